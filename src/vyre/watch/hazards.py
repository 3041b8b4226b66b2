"""What can be known of races without running: warnings when a kernel is decorated.

    every invocation stores a value of its own to one element:  out[0] += a[i]
    workgroup memory is read where others may still write it:   tile[l] = a[i]; b = tile[l + 1]
    an element is updated at an index that comes from data:     counts[a[i]] += 1

Only what is plain to see is told, and `kernel.check` runs the rest. A store under a condition that differs
between invocations, or after some of them may have left, is taken to be meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Load
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Store
from vyre.ir.walk import postorder
from vyre.slotted import dataclass
from vyre.validate.control_facts import ControlFacts
from vyre.validate.paths import locate
from vyre.watch.scattered import Scattered, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.errors import SourceLocation
    from vyre.ir.expr import Expr
    from vyre.ir.program import Program


@dataclass(frozen=True, slots=True)
class Hazard:
    """A race that is plain to see at one statement."""

    path: str
    message: str
    fix: str
    location: SourceLocation | None = None


def hazards(program: Program) -> list[Hazard]:
    """The plain races of a program, at most one for each statement, in program order."""
    x, y, z = program.workgroup_size
    if x * y * z == 1:
        return []
    found = {**_Unbarred(program).found, **dict(_SameElement(program).found())}
    longest = max(map(len, program.locations), default=-1)
    told = {
        path: Hazard(path, message, fix, locate(path, program.locations, longest))
        for path, (message, fix) in found.items()
    }
    scattered = Scattered(program)
    for path, store in scattered.found():
        place = locate(path, program.locations, longest)
        message = (
            f"the index into {store.buffer!r} comes from data: two invocations may have the same one, "
            "and one of their updates is lost."
        )
        fix = scattered.fix(store, place.text if place else "")
        told.setdefault(path, Hazard(path, message, fix, place))
    return [told[path] for path in sorted(told)]


_Told = tuple[str, str]
_Uses = dict[str, "set[tuple[Expr, bool]]"]
"""The indices at which a buffer was used since the last barrier, and whether under a condition."""


class _SameElement:
    """Stores that every invocation of a workgroup makes to the same element."""

    def __init__(self, program: Program) -> None:
        self._program = program
        # A private array differs between invocations where something that differs is stored to it.
        self._private = {b.name for b in program.buffers if b.access is BufferAccess.Private}
        self._facts = ControlFacts(
            {
                b.name: replace(b, access=BufferAccess.ReadOnly) if b.name in self._private else b
                for b in program.buffers
            }
        )
        self._divergent: set[str] = set()
        self._filled: set[str] = set()
        while self._spread(program.entry, divergent=False):
            pass

    def found(self) -> Iterator[tuple[str, _Told]]:
        yield from self._stores(self._program.entry, "entry")

    def _stores(self, body: tuple[Node, ...], path: str) -> Iterator[tuple[str, _Told]]:
        for place, node in enumerate(body):
            here = f"{path}[{place}]"
            match node:
                case Store(buffer=buffer) if self._is_shared(buffer) and self._collides(node):
                    yield (
                        here,
                        (
                            f"every invocation of a workgroup stores its own value to the same element "
                            f"of {buffer!r}, so the result depends on the machine.",
                            "use an atomic such as vyre.atomic_add, store at an index of the invocation's "
                            "own, or let one invocation store: `if vyre.local_id(0) == 0:`.",
                        ),
                    )
                case If(condition=condition) if self._differs(condition):
                    if leaves(node):
                        return
                case Loop(start=start, stop=stop) if self._differs(start) or self._differs(stop):
                    if leaves(node):
                        return
                case _:
                    for name, inner in zip(_names(node), node.bodies, strict=False):
                        yield from self._stores(inner, f"{here}.{name}")
                    if leaves(node):
                        return

    def _collides(self, store: Store) -> bool:
        """Whether invocations store different values to one element; equal ones are seldom a mistake."""
        return not self._differs(store.index) and self._differs(store.value)

    def _is_shared(self, buffer: str) -> bool:
        decl = self._program.buffer(buffer)
        return decl is not None and (decl.access is BufferAccess.ReadWrite or decl.access.shared)

    def _differs(self, expr: Expr) -> bool:
        needs = self._facts.needs_of(expr)
        if needs.source is not None or any(name in self._divergent for name in needs.names):
            return True
        return bool(self._filled) and any(
            isinstance(inner, Load) and inner.buffer in self._filled for inner in postorder(expr)
        )

    def _spread(self, body: tuple[Node, ...], *, divergent: bool) -> bool:
        """One pass over the statements; True where another variable was found to differ."""
        before = len(self._divergent) + len(self._filled)
        stack = [(node, divergent) for node in body]
        while stack:
            node, under = stack.pop()
            match node:
                case Let(name=name, value=value) | Assign(name=name, value=value):
                    if under or self._differs(value):
                        self._divergent.add(name)
                case Store(buffer=buffer, index=index, value=value) if buffer in self._private:
                    if under or self._differs(index) or self._differs(value):
                        self._filled.add(buffer)
                case Loop(var=var, start=start, stop=stop):
                    under = under or self._differs(start) or self._differs(stop)
                    if under:
                        self._divergent.add(var)
                case If(condition=condition):
                    under = under or self._differs(condition)
                case _:
                    pass
            stack += [(inner, under) for block in node.bodies for inner in block]
        return len(self._divergent) + len(self._filled) > before


class _Unbarred:
    """Workgroup memory that is used at two indices, one of them a store, with no barrier between.

    Two uses under a condition, as in `if k < half: tile[k] += tile[k + half]`, may be of disjoint halves. So
    may the indices of which each is both read and stored to between two barriers, as in a sort or a Fourier
    transform, where an invocation has a pair of elements for itself.
    """

    def __init__(self, program: Program) -> None:
        self._conditions = 0
        self._shared = {b.name for b in program.buffers if b.access is BufferAccess.Workgroup}
        self._stored: _Uses = {}
        self._loaded: _Uses = {}
        self._barriers = 0
        self._pairs: dict[tuple[str, int], tuple[set[Expr], set[Expr]]] = {}
        """Indices of a buffer that were read and stored to, by the number of barriers before."""
        self._told: dict[str, tuple[str, int, str]] = {}
        if self._shared:
            self._walk(program.entry, "entry")

    @property
    def found(self) -> dict[str, _Told]:
        kept = {
            here: (buffer, what)
            for here, (buffer, epoch, what) in self._told.items()
            if self._pairs[buffer, epoch][0] != self._pairs[buffer, epoch][1]
        }
        return {
            here: (
                f"the workgroup memory {buffer!r} is {what}: there is no barrier in between.",
                "put vyre.barrier() before this statement.",
            )
            for here, (buffer, what) in kept.items()
        }

    def _walk(self, body: tuple[Node, ...], path: str) -> None:
        for place, node in enumerate(body):
            here = f"{path}[{place}]"
            for root in node.exprs:
                self._loads(root, here)
            match node:
                case Store(buffer=buffer, index=index) if buffer in self._shared:
                    if self._others(self._loaded, buffer, index):
                        self._tell(here, buffer, "stored to while other invocations may still read it")
                    self._stored.setdefault(buffer, set()).add((index, self._conditions > 0))
                    self._used(buffer)[1].add(index)
                case Barrier():
                    self._stored, self._loaded = {}, {}
                    self._barriers += 1
                case If(then=then, orelse=orelse):
                    self._branches((then, f"{here}.then"), (orelse, f"{here}.orelse"))
                case Loop(body=inner):
                    # Twice: the second turn begins with what the first one left.
                    self._walk(inner, f"{here}.body")
                    self._walk(inner, f"{here}.body")
                case _:
                    for inner in node.bodies:
                        self._walk(inner, f"{here}.body")

    def _others(self, uses: _Uses, buffer: str, index: Expr) -> bool:
        """Whether another index was used before, and not both times under a condition."""
        return any(
            other is not index and not (guarded and self._conditions)
            for other, guarded in uses.get(buffer, ())
        )

    def _branches(self, *branches: tuple[tuple[Node, ...], str]) -> None:
        before = _copy(self._stored), _copy(self._loaded)
        ends: list[tuple[_Uses, _Uses]] = []
        self._conditions += 1
        for body, path in branches:
            self._stored, self._loaded = _copy(before[0]), _copy(before[1])
            self._walk(body, path)
            ends.append((self._stored, self._loaded))
        self._conditions -= 1
        self._stored = _joined([stored for stored, _ in ends])
        self._loaded = _joined([loaded for _, loaded in ends])

    def _loads(self, root: Expr, here: str) -> None:
        for expr in postorder(root):
            if isinstance(expr, Load) and expr.buffer in self._shared:
                if self._others(self._stored, expr.buffer, expr.index):
                    self._tell(here, expr.buffer, "read where other invocations may not have written it yet")
                self._loaded.setdefault(expr.buffer, set()).add((expr.index, self._conditions > 0))
                self._used(expr.buffer)[0].add(expr.index)

    def _used(self, buffer: str) -> tuple[set[Expr], set[Expr]]:
        return self._pairs.setdefault((buffer, self._barriers), (set(), set()))

    def _tell(self, here: str, buffer: str, what: str) -> None:
        self._told.setdefault(here, (buffer, self._barriers, what))


def _copy(seen: _Uses) -> _Uses:
    return {name: set(indices) for name, indices in seen.items()}


def _joined(ends: list[_Uses]) -> _Uses:
    joined: _Uses = {}
    for end in ends:
        for name, indices in end.items():
            joined.setdefault(name, set()).update(indices)
    return joined


def _names(node: Node) -> tuple[str, ...]:
    return ("then", "orelse") if isinstance(node, If) else ("body",)
