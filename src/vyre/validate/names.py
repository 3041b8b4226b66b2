"""The rule for names (V032), shared by buffers, variables and parameters."""

from __future__ import annotations

import re
from keyword import iskeyword

from vyre.ir.limits import MAX_NAME_LENGTH

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = "__"


def name_problem(name: object, *, allow_reserved: bool) -> tuple[str, str] | None:
    """What is wrong with a declared name and how to mend it, or None."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = repr(name)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        return (
            f"{shown} is not a name.",
            "use letters, digits and underscores, starting with a letter or an underscore.",
        )
    if len(name) > MAX_NAME_LENGTH:
        return (
            f"the name {name[:24]}... has {len(name)} characters; the limit is {MAX_NAME_LENGTH}.",
            "shorten the name.",
        )
    if name.startswith(_RESERVED) and not allow_reserved:
        return (
            f"the name {name} starts with `__`, which is reserved for names made by inlining.",
            f"rename it, for example to {_freed(name)}.",
        )
    return None


def _freed(name: str) -> str:
    """A name that may be declared, in Python too."""
    bare = name.lstrip(_RESERVED)
    if bare.isidentifier() and not iskeyword(bare):
        return bare
    return f"value_{bare}".rstrip("_")
