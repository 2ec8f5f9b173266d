"""What documents and results may hold, and what each of it is called."""
