"""An experiment as it is written, and what can be said of it before it runs."""
