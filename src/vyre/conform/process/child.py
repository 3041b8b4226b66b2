"""The process in which an isolated backend lives: it answers requests until its parent ends.

python -c "from vyre.conform.process.child import main; main()" SOCKET LIFE TARGET
"""

from __future__ import annotations

import mmap
import os
from collections import OrderedDict
from multiprocessing import reduction
from typing import TYPE_CHECKING, Any

from vyre.backends.protocol import ResidentBackend
from vyre.conform.process.entrances import Asked, offered, performed
from vyre.conform.process.inspection import canaries_of, inspect
from vyre.conform.process.load import load
from vyre.conform.process.residence import bound, has_device_memory
from vyre.conform.process.spawned import connected
from vyre.errors import UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.protocol import Backend, DeviceMemory, Executable

_KEPT = 512
"""Compiled programs the child keeps; a parent that asks for a dropped one sends it again."""

_recv_handle: Any = reduction.recv_handle


def main() -> None:
    connection, (target,) = connected()
    try:
        backend = load(target)
        connection.send(("ok", (backend.describe(), canaries_of(backend))))
    except VyreError as error:
        connection.send(("unavailable", error.message, error.fix))
        return
    except Exception as error:  # a stranger's constructor may raise anything
        connection.send(("unavailable", f"{type(error).__name__}: {error}", "repair the backend."))
        return
    _serve(connection, backend)


class _Device:
    """Memories and bound launches of the device, by number."""

    def __init__(self) -> None:
        self.memories: dict[int, DeviceMemory] = {}
        self.launches: list[Callable[[], None]] = []
        self._numbered = 0

    def answer(self, message: tuple[Any, ...], backend: Backend, kept: OrderedDict[str, Executable]) -> Any:
        match message:
            case ("resident",):
                return has_device_memory(backend)
            case ("allocate", nbytes):
                assert isinstance(backend, ResidentBackend)
                self._numbered += 1  # a number is never used twice
                self.memories[self._numbered] = backend.allocate(nbytes)
                return self._numbered
            case ("free", number):
                self.memories.pop(number).free()
                return None
            case ("write", number, data):
                self.memories[number].write(memoryview(data))
                return None
            case ("read", number):
                data = bytearray(self.memories[number].nbytes)
                self.memories[number].read(memoryview(data))
                return bytes(data)
            case ("bind", key, numbers, grid):
                if key not in kept:
                    return "missing"
                kept.move_to_end(key)
                self.launches.append(bound(kept[key], [self.memories[n] for n in numbers], grid))
                return len(self.launches) - 1
            case ("launch", number):
                self.launches[number]()
                return None
            case _:
                raise ValueError(f"no request {message[0]!r}")


def _serve(connection: Any, backend: Backend) -> None:
    kept: OrderedDict[str, Executable] = OrderedDict()
    segments: dict[int, mmap.mmap] = {}
    device = _Device()
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = _answer(message, connection, backend, kept, segments, device)
        except UnsupportedByBackend as refusal:
            why = refusal.message.partition(": ")[2].rstrip(".")
            connection.send(("refused", refusal.op, refusal.backend, why, refusal.fix))
        except VyreError as error:
            connection.send(("error", type(error).__name__, error.message))
        except Exception as error:  # a backend under test may raise anything
            connection.send(("error", type(error).__name__, str(error)))
        else:
            connection.send(("ok", answer))


def _answer(
    message: tuple[Any, ...],
    connection: Any,
    backend: Backend,
    kept: OrderedDict[str, Executable],
    segments: dict[int, mmap.mmap],
    device: _Device,
) -> Any:
    match message:
        case ("ping",):
            return None
        case ("describe",):
            return backend.describe(), canaries_of(backend)
        case ("attach", number, size):
            descriptor = _recv_handle(connection)
            segments[number] = mmap.mmap(descriptor, size)
            os.close(descriptor)
            return None
        case ("detach", number):
            del segments[number]
            return None
        case ("compile", key, wire):
            from vyre.wire import decode

            kept[key] = backend.compile(decode(wire))
            kept.move_to_end(key)
            if len(kept) > _KEPT:
                kept.popitem(last=False)
            return None
        case ("inspect", key, assembly):
            if key not in kept:
                return "missing"
            found = inspect(kept[key], assembly=assembly)
            return (found.lowering, found.source, found.assembly)
        case ("offered", key):
            return offered(backend, kept[key]) if key in kept else "missing"
        case ("perform", key, wire, memories, grid, *way):
            if key not in kept:
                return "missing"
            from vyre.wire import decode

            kept.move_to_end(key)
            return performed(backend, kept[key], Asked(decode(wire), memories, grid, *way))
        case ("run", key, places, grid):
            if key not in kept:
                return "missing"
            kept.move_to_end(key)
            views: dict[str, memoryview] = {}
            for name, number, at, nbytes, writable in places:
                view = memoryview(segments[number])[at : at + nbytes]
                views[name] = view if writable else view.toreadonly()
            kept[key].run(views, grid)
            return None
        case _:
            return device.answer(message, backend, kept)
