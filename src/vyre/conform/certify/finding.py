"""What one check of a certificate, or of what comes with it, found."""

from __future__ import annotations

from dataclasses import dataclass

GOOD, WRONG, OPEN = "good", "wrong", "open"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: `status` is `good`, `wrong`, or `open` for what nobody asked or could be told here."""

    check: str
    status: str
    text: str
    fix: str = ""
