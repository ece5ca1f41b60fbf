"""Run the command line as `python -m autograder`."""

from .cli import main

main()
