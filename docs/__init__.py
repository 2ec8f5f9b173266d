"""The documentation, and what makes the site of it."""
