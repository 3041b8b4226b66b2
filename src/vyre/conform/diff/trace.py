"""A program with a log: one chosen invocation appends the value of every statement to a buffer.

The log is a sequence of records: the number of the logged place plus one, then the value's u32 lanes. The
chosen invocation is an input, so that one compiled program answers for all of them. F64 values have no
lanes and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import PrintError, ValidationError
from vyre.ir.blocks import BlockPath, rewrite_blocks
from vyre.ir.buffers import BufferDecl
from vyre.ir.environment import Types
from vyre.ir.expr import Cast, Expr, InvocationId, Lane, LitU32, Load, Var
from vyre.ir.node import Assign, Block, If, Let, Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.walk import rebuild, with_parts
from vyre.text import print_expr
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Ids = tuple[int, int, int]

LOG_WORDS = 1 << 16
MAX_SPLIT = 2_000
"""Operations of one statement that are logged one by one; larger statements stay whole."""

_NOBODY = (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Entry:
    """One logged value. Entries are equal when they log the same place and the same bits."""

    number: int
    bits: int
    path: str
    statement: str
    expr: Expr
    type: DataType

    @property
    def text(self) -> str:
        return expression_text(self.expr)


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    statement: str
    expr: Expr
    type: DataType


@dataclass(frozen=True, slots=True)
class Traced:
    """The program with its log, and the names of the buffers it added."""

    program: Program
    places: tuple[_Place, ...]
    log: str
    target: str
    who: str

    def inputs(self, target: Ids | None) -> dict[str, bytes]:
        words = _NOBODY if target is None else target
        return {
            self.target: b"".join(word.to_bytes(4, "little") for word in words),
            self.log: bytes(4 * LOG_WORDS),
            self.who: bytes(16),
        }

    def entries(self, results: Mapping[str, bytes]) -> Iterator[Entry]:
        words = memoryview(results[self.log]).cast("I")
        at = 0
        while at < len(words) and 0 < words[at] <= len(self.places):
            number = words[at] - 1
            place = self.places[number]
            lanes = place.type.lanes
            if at + 1 + lanes > len(words):
                return
            bits = sum(words[at + 1 + k] << (32 * k) for k in range(lanes))
            yield Entry(number, bits, place.path, place.statement, place.expr, place.type)
            at += 1 + lanes

    def writer(self, results: Mapping[str, bytes]) -> Ids | None:
        """The invocation that wrote the watched element last."""
        x, y, z, wrote = memoryview(results[self.who]).cast("I")
        return (x, y, z) if wrote else None


def trace_program(
    program: Program, *, watched: tuple[str, int] | None = None, split: str | None = None
) -> Traced:
    """The program, which holds no calls, with its log. The statement at `split` is logged by operations.

    Raises `ValidationError` when the log does not fit into the limits of the language.
    """
    tracer = _Tracer(program, watched, split)
    traced = tracer.build()
    problems = validate(traced.program, allow_reserved=True)
    if problems:
        raise ValidationError(problems)
    return traced


class _Tracer:
    def __init__(self, program: Program, watched: tuple[str, int] | None, split: str | None) -> None:
        self.program = program
        self.watched = watched
        self.split = split
        self.places: list[_Place] = []
        self.types = Types(program.buffers)
        taken = {b.name for b in program.buffers} | set(_variable_names(program.entry))
        self.prefix = "t"
        while any(name.startswith(self.prefix + "_") for name in taken):
            self.prefix += "t"
        self.count = 0

    def build(self) -> Traced:
        binding = max((b.binding for b in self.program.buffers if b.binding is not None), default=-1)
        log, target, who = (f"{self.prefix}_{word}" for word in ("log", "target", "who"))
        buffers = (
            *self.program.buffers,
            BufferDecl.read_write(log, binding + 1, DataType.U32, count=LOG_WORDS),
            BufferDecl.read(target, binding + 2, DataType.U32, count=3),
            BufferDecl.read_write(who, binding + 3, DataType.U32, count=4),
        )
        me: Expr = LitU32(1)
        for axis in range(3):
            me = me & Load(target, LitU32(axis)).eq(InvocationId(axis))
        head = [Let(f"{self.prefix}_me", me), Let(f"{self.prefix}_at", LitU32(0))]
        self._names = log, who
        entry = (
            *head,
            *rewrite_blocks(self.program.entry, self._statement, BlockPath(), body=BlockPath.body),
        )
        traced = Program(buffers, self.program.workgroup_size, entry)
        return Traced(traced, tuple(self.places), log, target, who)

    def _fresh(self) -> str:
        self.count += 1
        return f"{self.prefix}_{self.count}"

    def _statement(self, node: Node, block: BlockPath, out: list[Node]) -> tuple[Node, BlockPath] | None:
        path = block.next()
        exprs = tuple(self._logged(x, node, path, out) for x in node.exprs)
        self.types.enter(node)
        changed = with_parts(node, exprs, node.bodies)
        if not isinstance(node, Store):
            return changed, BlockPath(path)
        out += [changed, *self._watch(node.buffer, exprs[0])]
        return None

    def _logged(self, root: Expr, node: Node, path: str, out: list[Node]) -> Expr:
        """The value bound to a name and logged; every operation of it where the statement is split."""
        if path != self.split or root.size > MAX_SPLIT:
            return self._bind(root, root, node, path, out)
        done: list[Expr] = []
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            expr, ready = stack.pop()
            if not ready:
                stack.append((expr, True))
                stack.extend((c, False) for c in reversed(expr.children))
                continue
            count = len(expr.children)
            value = rebuild(expr, tuple(done[len(done) - count :]))
            del done[len(done) - count :]
            leaf = not expr.children
            done.append(value if leaf else self._bind(value, expr, node, path, out))
        return done[0]

    def _bind(self, value: Expr, shown: Expr, node: Node, path: str, out: list[Node]) -> Expr:
        t = self.types.type(value)
        name = self._fresh()
        self.types.declare(name, t)
        out.append(Let(name, value))
        if t is DataType.F64:
            return Var(name)
        log, _ = self._names
        at = Var(f"{self.prefix}_at")
        self.places.append(_Place(path, statement_text(node), shown, t))
        lanes = [Lane(Var(name), k) for k in range(t.lanes)] if t in LANE_TYPES else [_word(Var(name), t)]
        words = [LitU32(len(self.places)), *lanes]
        record: list[Node] = [Store(log, at + k, word) for k, word in enumerate(words)]
        record.append(Assign(at.name, at + len(words)))
        out.append(If(Var(f"{self.prefix}_me"), record))
        return Var(name)

    def _watch(self, buffer: str, index: Expr) -> list[Node]:
        if self.watched is None or self.watched[0] != buffer:
            return []
        _, who = self._names
        ids: list[Expr] = [InvocationId(axis) for axis in range(3)]
        record = [Store(who, LitU32(k), word) for k, word in enumerate([*ids, LitU32(1)])]
        return [If(index.eq(self.watched[1]), record)]


def _word(value: Expr, t: DataType) -> Expr:
    return value if t is DataType.U32 else Cast(DataType.U32, value)


def _variable_names(entry: tuple[Node, ...]) -> Iterator[str]:
    from vyre.ir.walk import statements

    for _, node in statements(entry):
        if isinstance(node, Let | Assign):
            yield node.name
        elif isinstance(node, Loop):
            yield node.var


def statement_text(node: Node) -> str:
    """A statement on one line; a nested block by its head."""
    match node:
        case Let(name=name, value=value):
            return f"let {name} = {expression_text(value)}"
        case Assign(name=name, value=value):
            return f"{name} := {expression_text(value)}"
        case Store(buffer=buffer, index=index, value=value):
            return f"{buffer}[{expression_text(index)}] = {expression_text(value)}"
        case If(condition=condition):
            return f"if {expression_text(condition)} {{ … }}"
        case Loop(var=var, start=start, stop=stop):
            return f"for {var} in {expression_text(start)}..{expression_text(stop)} {{ … }}"
        case Block():
            return "block { … }"
        case _:
            return type(node).__name__.lower()


def expression_text(expr: Expr) -> str:
    """An expression on one line; its size where inlining has made it too large to print."""
    try:
        return print_expr(expr)
    except PrintError:
        return f"(an expression of {expr.size} nodes)"
