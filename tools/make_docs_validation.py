"""Writes docs/validation.md from the V-code table.

python tools/make_docs_validation.py            checks that the page is what the table says
python tools/make_docs_validation.py --write    rewrites it
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from vyre.validate import CODES, Rule
from vyre.validate.gathered import MAX_DIAGNOSTICS

PAGE = Path(__file__).parent.parent / "docs" / "validation.md"
INTRODUCTION = f"""\
# Validation

Every rule a program must keep has a permanent code. `vyre validate FILE` reports all broken rules at
once, each with its place and a fix; `vyre explain V010` shows one of the pages below. A number is never
reused: a rule that is superseded keeps its page and says so.

An error makes no further errors: where an operand has no type because of a mistake inside it, what
stands around it is not blamed. At most {MAX_DIAGNOSTICS:,} errors are reported. A program over the node
limit (V019) is checked for its other limits only, and nothing inside an expression over the depth limit
(V034) or a block over the nesting limit (V018) is looked at.

Places are paths: `entry[2].then[0].value.left` is the left operand of the value of a statement,
`buffers[1]` a declaration, `ops[acme.math.mix].result` the result of an op that the program calls.

V051 to V060 are the rules of [graphs of tensors](text-form.md#graphs). The place is the name of the value at
fault, `outputs`, or `graph` for the whole; what is computed from a value at fault is not blamed.
"""


def page() -> str:
    rows = [f"| [{r.code}](#{r.code.lower()}) | {r.title} |" for r in CODES.values()]
    table = "\n".join(["| code | rejects |", "|---|---|", *rows])
    return "\n".join([INTRODUCTION, table, "", *(section(rule) for rule in CODES.values())])


def section(rule: Rule) -> str:
    note = f"\n**Deprecated:** {rule.deprecated}\n" if rule.deprecated else ""
    if rule.note:
        note += f"\n**Note:** {rule.note}\n"
    return (
        f"## {rule.code}\n\n**{rule.title[0].upper()}{rule.title[1:]}.** {rule.meaning}\n{note}\n"
        f"Rejected:\n\n```\n{rule.example}```\n\n**Fix:** {rule.fix}\n\n"
        f"Accepted:\n\n```\n{rule.near_miss}```\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="rewrite the page")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        print(f"{PAGE.name} does not say what the table says; run with --write.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
