"""`python -m vyre` is the command `vyre`."""

from vyre.cli import main

main(prog_name="vyre")
