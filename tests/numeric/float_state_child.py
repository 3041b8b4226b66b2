"""Sets a floating-point state, only then imports vyre, and prints digests of what may depend on it.

python -m tests.numeric.float_state_child default|up|down|zero|flush
"""

from __future__ import annotations

import ctypes
import sys

X86_UP, X86_DOWN, X86_ZERO = 2 << 13, 1 << 13, 3 << 13
STATES = {"default": 0, "up": X86_UP, "down": X86_DOWN, "zero": X86_ZERO, "flush": 1 << 15 | 1 << 6}
"""Bits of MXCSR: the rounding mode; DAZ and FTZ together."""

_MXCSR_AT = 28
"""In the state that the C library saves on x86-64."""


def set_state(name: str) -> None:
    library = ctypes.CDLL("libm.so.6")
    state = ctypes.create_string_buffer(64)
    library.fegetenv(state)
    word = int.from_bytes(state.raw[_MXCSR_AT : _MXCSR_AT + 4], "little") | STATES[name]
    state[_MXCSR_AT : _MXCSR_AT + 4] = word.to_bytes(4, "little")  # pyright: ignore[reportArgumentType]
    library.fesetenv(state)


def is_set(name: str) -> bool:
    """That the state is what it should be: a few sums show it."""
    one, tiny, third = float("1"), float("1e-30"), float("3")
    signs = (one + tiny > one, -one - tiny < -one)
    least = ctypes.c_double.from_buffer_copy(b"\1" + bytes(7)).value
    wanted = {"up": (True, False), "down": (False, True)}.get(name, (False, False))
    if name in ("up", "down") and signs != wanted:
        return False
    if name == "zero" and one / third * third == one and -one - tiny == -one and one - tiny == one:
        return False
    return (least == 0) is (name == "flush")


def main(name: str) -> None:
    set_state(name)
    assert is_set(name), "the state cannot be set here"
    from tests.numeric.float_state_work import digests

    found = digests()
    assert is_set(name), "vyre has changed the state of its caller"
    for subject, digest in found.items():
        print(subject, digest)


if __name__ == "__main__":
    main(sys.argv[1])
