"""What the constructors of expressions ask of their arguments."""

from __future__ import annotations

from vyre.errors import VyreError


def require_int(owner: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise VyreError(
            f"{owner} takes an int from {low} to {high}, not {shown(value)}.",
            fix="pass a number in that range.",
        )


def shown(value: object) -> str:
    """A value for a message; Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an int of {value.bit_length()} bits"
    return repr(value)


def require_name(owner: str, value: object) -> None:
    if not isinstance(value, str):
        raise VyreError(f"{owner} takes a name, not {value!r}.", fix="pass a str.")


def require_op(owner: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise VyreError(
            f"{owner} takes a {kind.__name__}, not {value!r}.", fix=f"pass a member of {kind.__name__}."
        )
