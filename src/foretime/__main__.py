"""`python -m foretime` is the command line."""

from foretime.cli import main

main()
