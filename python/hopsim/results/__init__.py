"""What simulations measured, and the directory that keeps it."""
