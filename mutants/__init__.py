"""Mutation testing: rules are broken on purpose, in a copy of the checkout, and a test has to notice.

`python -m mutants named` breaks the rules that are listed in `named/`, one at a time; `rust` and `python`
break a sample of all lines of the simulator and of the package.
"""
