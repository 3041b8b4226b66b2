"""Python's garbage collector rests while the first kernel of a process loads the language and the compiler.

    with resting(): ...

Loading makes a hundred thousand objects, nearly all of which stay. The collector looks at them again and
again, and at the user's own: a tenth of a first call. So they count as old ones when a block ends. Behind the
first kernel that was compiled nothing rests any more; a collector that is turned off stays off.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


class _Rest:
    """At most one block of one thread has turned the collector off."""

    def __init__(self) -> None:
        self.asleep = Lock()
        self.over = False

    def wake(self) -> None:
        """In the child of a fork, whose parent may have had a thread in a block."""
        if self.asleep.locked():
            gc.enable()
        self.asleep = Lock()


_rest = _Rest()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_rest.wake)


@contextmanager
def resting(*, last: bool = False) -> Generator[None]:
    """Blocks may be nested, and entered by several threads. A `last` one that ends well is the last one."""
    asleep = _rest.asleep
    if _rest.over or not gc.isenabled() or not asleep.acquire(blocking=False):
        yield
        return
    gc.disable()
    try:
        yield
        _rest.over |= last
    finally:
        if not gc.get_freeze_count():  # else somebody keeps objects frozen
            gc.freeze()
            gc.unfreeze()
        gc.enable()
        asleep.release()
