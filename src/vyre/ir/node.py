"""Statements: immutable and interned like expressions.

    Let Assign Store If Loop Break Return Block Barrier

A binding is visible until the end of the enclosing block. A loop runs `start..stop`, half open,
its bounds evaluated once and its variable immutable (decision 18); `Break` ends the innermost one.
A kernel's `Return` carries no value (decision 19).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.ir.expr import Expr
from vyre.ir.interning import Interned, rebuilt
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

_SIZE_CAP = 1 << 40
_set = object.__setattr__


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Node(metaclass=Interned):
    """Base of all statements.

    `exprs` are the expressions evaluated by the node itself, in order; `bodies` its nested blocks;
    `size` counts statement and expression nodes (saturating); `nesting` levels of nested blocks; `breaks`
    says whether a `Break` in it ends a loop around it.
    """

    exprs: tuple[Expr, ...] = field(init=False)
    bodies: tuple[tuple[Node, ...], ...] = field(init=False)
    size: int = field(init=False)
    nesting: int = field(init=False)
    breaks: bool = field(init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt(self)

    def _seal(self, exprs: tuple[Expr, ...] = (), bodies: tuple[tuple[Node, ...], ...] = ()) -> None:
        size = 1
        for expr in exprs:
            if not isinstance(expr, Expr):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise VyreError(
                    f"{type(self).__name__} got {expr!r}, which is not an expression.",
                    fix="wrap numbers in a literal such as LitU32(1), or use lift().",
                )
            size += expr.size
        nesting = 0
        breaks = isinstance(self, Break)
        for body in bodies:
            for node in body:
                if not isinstance(node, Node):  # pyright: ignore[reportUnnecessaryIsInstance]
                    raise VyreError(
                        f"{type(self).__name__} got {node!r} in its body, which is not a statement.",
                        fix="pass Let, Assign, Store, If, Loop, Break, Return, Block or Barrier nodes.",
                    )
                size += node.size
                if node.nesting > nesting:
                    nesting = node.nesting
                breaks = breaks or node.breaks
        _set(self, "exprs", exprs)
        _set(self, "bodies", bodies)
        _set(self, "size", min(size, _SIZE_CAP))
        _set(self, "nesting", nesting + 1 if bodies else 0)
        _set(self, "breaks", breaks and not isinstance(self, Loop))

    def __repr__(self) -> str:
        parts = [repr(e) for e in self.exprs]
        parts += [f"<{len(b)} statements>" for b in self.bodies]
        named = getattr(self, "name", None) or getattr(self, "buffer", None) or getattr(self, "var", None)
        head = [repr(named)] if named else []
        return f"{type(self).__name__}({', '.join(head + parts)})"

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: Any) -> Node:
        return self


def _body(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(nodes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Let(Node):
    name: str
    value: Expr

    def __post_init__(self) -> None:
        self._seal((self.value,))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assign(Node):
    name: str
    value: Expr

    def __post_init__(self) -> None:
        self._seal((self.value,))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Store(Node):
    """Writes one element; nothing happens out of bounds. Index first, then value."""

    buffer: str
    index: Expr
    value: Expr

    def __post_init__(self) -> None:
        self._seal((self.index, self.value))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If(Node):
    _converts = True
    condition: Expr
    then: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()

    if TYPE_CHECKING:  # any iterable of statements is accepted and kept as a tuple

        def __init__(self, condition: Expr, then: Iterable[Node], orelse: Iterable[Node] = ()) -> None: ...

    def __post_init__(self) -> None:
        _set(self, "then", _body(self.then))
        _set(self, "orelse", _body(self.orelse))
        self._seal((self.condition,), (self.then, self.orelse))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Loop(Node):
    _converts = True
    var: str
    start: Expr
    stop: Expr
    body: tuple[Node, ...]

    if TYPE_CHECKING:

        def __init__(self, var: str, start: Expr, stop: Expr, body: Iterable[Node]) -> None: ...

    def __post_init__(self) -> None:
        _set(self, "body", _body(self.body))
        self._seal((self.start, self.stop), (self.body,))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Break(Node):
    """Ends the innermost loop around it, for this invocation."""

    def __post_init__(self) -> None:
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Return(Node):
    """Ends the invocation."""

    def __post_init__(self) -> None:
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block(Node):
    """A scope of its own."""

    _converts = True
    body: tuple[Node, ...]

    if TYPE_CHECKING:

        def __init__(self, body: Iterable[Node]) -> None: ...

    def __post_init__(self) -> None:
        _set(self, "body", _body(self.body))
        self._seal((), (self.body,))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Barrier(Node):
    """All live invocations of the workgroup meet here; orders their memory (decision 12)."""

    def __post_init__(self) -> None:
        self._seal()


BOUNDED_TURN = "bounded_turn"
"""How the variable of a loop begins that stands for a condition with a bound; a check tells when the bound
ended it. The name has no other meaning."""

NODE_KINDS: tuple[type[Node], ...] = (Let, Assign, Store, If, Loop, Break, Return, Block, Barrier)
