"""`python -m hopsim`: the command line."""

from hopsim.cli import main

main()
