"""A way out of a kernel that runs: the thread in it is made to leave, whatever loop it is in.

Kernels hold no poll for it, so they pay nothing. A helper thread enters a kernel through `vyre_enter`, which
keeps the place to come back to (`sigsetjmp`) in the thread's `Escape`. To end the run another thread sends it
a signal, whose handler, machine code as well, goes back there (`siglongjmp`). That is sound because kernels
are arithmetic on memory: they allocate nothing, lock nothing and call nobody who does. The handler does
nothing for a thread that is in no kernel, or not in the one that was doomed.

The signal is SIGURG, which is ignored by default and means nothing to anybody but a few users of sockets.
Its disposition is changed only while a run is being ended and put back afterwards. Where the system has no
such signals a run that is interrupted ends with the chunks that its threads are in.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.backends.cpu.loading import MachineCode

if TYPE_CHECKING:
    from collections.abc import Callable

ESCAPED = 2
"""What `vyre_enter` gives back for a run that was left."""

_SIGNAL = getattr(signal, "SIGURG", None)
_PATIENCE = 0.05
_LEAVING = threading.Lock()
"""Held while the handler is installed: one thread is made to leave at a time."""

_PLACE_BYTES = 2048
"""Room for a `sigjmp_buf`, of which the largest in use take a few hundred bytes."""

_CODE = """
@doomed = internal global ptr null

define i32 @vyre_enter(ptr %escape, ptr %loop, ptr %entry, ptr %buffers, ptr %hidden, ptr %scratch, ptr %next,
                       i64 %count, i64 %size, i64 %turns) noinline nounwind {
start:
  %setjmp = load ptr, ptr %escape, align 8
  %inside = getelementptr i8, ptr %escape, i64 24
  %place = getelementptr i8, ptr %escape, i64 64
  %back = call i32 %setjmp(ptr %place, i32 1) #0
  %first = icmp eq i32 %back, 0
  br i1 %first, label %run, label %left
run:
  store atomic i64 1, ptr %inside seq_cst, align 8
  %more = call i32 %loop(ptr %entry, ptr %buffers, ptr %hidden, ptr %scratch, ptr %next, i64 %count,
                         i64 %size, i64 %turns)
  store atomic i64 0, ptr %inside seq_cst, align 8
  ret i32 %more
left:
  ret i32 2
}

define void @vyre_leave(i32 %signal) noinline nounwind {
start:
  %escape = load atomic ptr, ptr @doomed seq_cst, align 8
  %some = icmp ne ptr %escape, null
  br i1 %some, label %look, label %done
look:
  %self_place = getelementptr i8, ptr %escape, i64 16
  %self_function = load ptr, ptr %self_place, align 8
  %self = call i64 %self_function()
  %thread_place = getelementptr i8, ptr %escape, i64 32
  %thread = load i64, ptr %thread_place, align 8
  %mine = icmp eq i64 %self, %thread
  br i1 %mine, label %check, label %done
check:
  %inside = getelementptr i8, ptr %escape, i64 24
  %within = atomicrmw xchg ptr %inside, i64 0 seq_cst
  %busy = icmp ne i64 %within, 0
  br i1 %busy, label %leave, label %done
leave:
  %jump_place = getelementptr i8, ptr %escape, i64 8
  %jump = load ptr, ptr %jump_place, align 8
  %place = getelementptr i8, ptr %escape, i64 64
  call void %jump(ptr %place, i32 1)
  unreachable
done:
  ret void
}

define void @vyre_doom(ptr %escape) noinline nounwind {
  store atomic ptr %escape, ptr @doomed seq_cst, align 8
  ret void
}

attributes #0 = { returns_twice nounwind }
"""


class Escape:
    """What a helper thread enters kernels with; it belongs to the thread that makes it."""

    def __init__(self) -> None:
        tools = _tools()
        self.enter: Callable[..., int] | None = None
        if tools is None:
            return
        self._tools = tools
        self.enter = tools.enter
        self._memory = ctypes.create_string_buffer(_PLACE_BYTES + 64 + 64)
        self.address = -(-ctypes.addressof(self._memory) // 64) * 64
        words = (*tools.functions, 0, threading.get_ident())
        ctypes.memmove(self.address, (ctypes.c_uint64 * len(words))(*words), 8 * len(words))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {_SIGNAL})  # pyright: ignore[reportArgumentType] - there is one

    def leave(self, thread: threading.Thread) -> None:
        """Makes its thread leave the kernel that it is in, and returns when the thread has ended.

        The thread must be about to end: it takes no further work.
        """
        if self.enter is None:
            thread.join()
            return
        tools = self._tools
        with _LEAVING, tools.handling():
            tools.doom(self.address)
            try:
                while thread.is_alive():
                    if thread.ident is not None:
                        signal.pthread_kill(thread.ident, _SIGNAL)  # pyright: ignore[reportArgumentType] - as above
                    thread.join(_PATIENCE)
            finally:
                tools.doom(None)


class _Tools:
    """The machine code, and the functions of the C library that it calls, by their addresses."""

    def __init__(self, library: Any, functions: tuple[int, int, int]) -> None:
        from vyre.backends.cpu.llvm import OBJECT, toolchain
        from vyre.backends.cpu.translator import translator
        from vyre.backends.kernel_cache import kept

        image = kept("cpu", [_CODE, toolchain().digest], lambda: translator()(_CODE, OBJECT))
        code = MachineCode(image, "vyre_enter")
        i64, pointer = ctypes.c_int64, ctypes.c_void_p
        self.functions = functions
        self.enter = ctypes.CFUNCTYPE(ctypes.c_int32, *[pointer] * 7, *[i64] * 3)(code.address)
        self.doom = ctypes.CFUNCTYPE(None, pointer)(code.function("vyre_doom"))
        self._handler = code.function("vyre_leave")
        self._library = library
        self._code = code

    def handling(self) -> _Handling:
        return _Handling(self._library, self._handler)


class _Handling:
    """The handler, installed for the length of a `with` block."""

    def __init__(self, library: Any, handler: int) -> None:
        self._library = library
        self._handler = ctypes.c_void_p(handler)
        self._found = ctypes.create_string_buffer(1024)

    def __enter__(self) -> None:
        self._library.sigaction(_SIGNAL, None, self._found)
        self._library.signal(_SIGNAL, self._handler)

    def __exit__(self, *_: object) -> None:
        self._library.sigaction(_SIGNAL, self._found, None)


@cache
def _tools() -> _Tools | None:
    """None on a system without the calls that it takes."""
    if _SIGNAL is None or not hasattr(signal, "pthread_kill"):
        return None
    library = ctypes.CDLL(None)
    setjmp = next((n for n in ("__sigsetjmp", "sigsetjmp") if hasattr(library, n)), None)
    if setjmp is None or not all(hasattr(library, n) for n in ("siglongjmp", "pthread_self", "sigaction")):
        return None
    library.signal.restype = ctypes.c_void_p
    found = [ctypes.cast(library[n], ctypes.c_void_p).value for n in (setjmp, "siglongjmp", "pthread_self")]
    first, second, third = (place or 0 for place in found)
    return _Tools(library, (first, second, third))
