"""An oracle that knows nothing of vyre."""


def add(a: int, b: int) -> int:
    return (a + b) % 2**32
