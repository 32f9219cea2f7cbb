"""`python -m stream` is `misdeal`."""

from stream.cli import main

main(prog_name="misdeal")
