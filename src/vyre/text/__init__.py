"""The readable form of programs and ops: `parse(print(p)) == p` for everything within the limits.

The grammar is in `docs/text-form.md`. Parsing is purely syntactic: whether a program is valid is
the validator's question. Neither direction recurses, so neither depends on Python's stack.
"""

from vyre.text.parser import parse_expr, parse_op, parse_program
from vyre.text.printer import print_expr, print_op, print_program

__all__ = ["parse_expr", "parse_op", "parse_program", "print_expr", "print_op", "print_program"]
