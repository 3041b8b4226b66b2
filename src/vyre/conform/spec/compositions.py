"""Which ops compose others, by their ids, and how many cases are enough for them.

A composition vanishes when it is inlined: what runs are the ops of the language, each of which is tried on
all its cases, and that the inlined body means what it says is proved for all inputs. So its own cases are
there to see the whole at work on a backend, and fewer of them do.
"""

from __future__ import annotations

FAMILIES = ("integer.", "signed.", "wide.", "bytes.", "fp8.", "nf4.")
"""What the ids of the library's compositions begin with."""

CASES = 1 << 16
"""Most uniform cases of a composition and of each of its laws."""

SHAPED = 1 << 12
"""Its adversarial cases, and half of the correlated ones."""


def is_composed(op_id: str) -> bool:
    """Whether an id is that of a composition of the library."""
    return op_id.startswith(FAMILIES)
