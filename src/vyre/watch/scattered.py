"""Updates at an index that comes from data, as in `counts[a[i] % 8] += 1`: two of them may meet.

An index that has an id of the invocation in it besides, as in `sums[i * groups + group]`, is taken to be the
invocation's own, and so is one that an atomic gave, or that counts through a part of a buffer between bounds
that differ. A condition that singles out an invocation, such as `i == 0`, leaves nobody to meet.
"""

from __future__ import annotations

import ast
from enum import Flag, auto
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Atomic, BinOp, Call, InvocationId, LitU32, Load, LocalId, Var
from vyre.ir.node import Assign, If, Let, Loop, Node, Return, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import BODY_NAMES, postorder, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.ir.expr import Expr
    from vyre.ir.program import Program

_SAFE = "make sure that no two invocations have the same index."
_LONGEST_SHOWN = 60
_ATOMICS = {
    BinaryOp.Add: "atomic_add",
    BinaryOp.Sub: "atomic_add",
    BinaryOp.BitAnd: "atomic_and",
    BinaryOp.BitOr: "atomic_or",
    BinaryOp.BitXor: "atomic_xor",
}
_SAME_TWICE = (BinaryOp.BitAnd, BinaryOp.BitOr)
"""Operators that make no difference when they are done again with the same number."""
_EQUAL = (BinaryOp.Eq, BinaryOp.Ne)
_ORDERED = (BinaryOp.Lt, BinaryOp.Le, BinaryOp.Gt, BinaryOp.Ge)


class _From(Flag):
    """Why a value differs between the invocations of a workgroup."""

    NOTHING = 0
    ID = auto()
    DATA = auto()


class Scattered:
    """The updates of one program that two invocations may make to the same element."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._names: dict[str, _From] = {}

    def found(self) -> Iterator[tuple[str, Store]]:
        """Each such update with its path."""
        entry = self._program.entry
        if not any(isinstance(node, Store) and self._updates(node) for _, node in statements(entry)):
            return
        while self._spread():
            pass
        yield from self._stores(entry, "entry")

    def fix(self, store: Store, line: str) -> str:
        """What to write instead; `line` is where the store is written, if that is known."""
        decl = self._program.buffer(store.buffer)
        if decl is None or decl.element is not DataType.U32:
            return _SAFE
        if not isinstance(store.value, BinOp):
            return f"use an atomic such as vyre.atomic_max, or {_SAFE}"
        function = _ATOMICS.get(store.value.op)
        if function is None:
            return _SAFE
        buffer, index, value = _as_written(line) or (store.buffer, "index", "value")
        if store.value.op is BinaryOp.Sub:
            value = f"0 - u32({value})"
        memory = "" if decl.access.atomic else ", and atomic=True in the vyre.shared that makes it"
        return f"write vyre.{function}({buffer}, {index}, {value}){memory}."

    def _stores(self, body: tuple[Node, ...], path: str) -> Iterator[tuple[str, Store]]:
        for place, node in enumerate(body):
            here = f"{path}[{place}]"
            if isinstance(node, Store):
                if self._may_meet(node):
                    yield here, node
            elif isinstance(node, If) and self._singles_out(node.condition):
                if leaves(node):
                    return
            else:
                for name, inner in zip(BODY_NAMES.get(type(node), ()), node.bodies, strict=True):
                    yield from self._stores(inner, f"{here}.{name}")

    def _may_meet(self, store: Store) -> bool:
        if not self._updates(store) or self._source(store.index) is not _From.DATA:
            return False
        match store.value:
            case BinOp(op=op, left=Load(), right=other) if op in _SAME_TWICE:
                return self._source(other) is not _From.NOTHING
            case _:
                return True

    def _updates(self, store: Store) -> bool:
        """Whether the value is made from the element that it replaces, and others can use that element."""
        decl = self._program.buffer(store.buffer)
        if decl is None or not (decl.access is BufferAccess.ReadWrite or decl.access.shared):
            return False
        return any(
            isinstance(part, Load) and part.buffer == store.buffer and part.index is store.index
            for part in postorder(store.value)
        )

    def _singles_out(self, condition: Expr) -> bool:
        for part in postorder(condition):
            match part:
                case BinOp(op=op, left=left, right=right) if op in _EQUAL:
                    if _From.ID in self._source(left) | self._source(right):
                        return True
                case BinOp(op=op, left=left, right=LitU32(value=0 | 1)) if op in _ORDERED:
                    if _From.ID in self._source(left):
                        return True
                case _:
                    pass
        return False

    def _source(self, root: Expr) -> _From:
        known: dict[Expr, _From] = {}
        for expr in postorder(root):
            inner = _From.NOTHING
            for child in expr.children:
                inner |= known[child]
            match expr:
                case InvocationId() | LocalId() | Atomic():
                    inner = _From.ID
                case Call() if not expr.children or expr.op_id.startswith("subgroup."):
                    inner = _From.ID
                case Var(name=name):
                    inner = self._names.get(name, _From.NOTHING)
                case Load(buffer=buffer):
                    decl = self._program.buffer(buffer)
                    private = decl is not None and decl.access is BufferAccess.Private
                    inner = _From.ID if private else _From.DATA if inner else inner
                case _:
                    pass
            known[expr] = inner
        return known[root]

    def _spread(self) -> bool:
        """One pass over the statements; True where more was found out about a variable."""
        before = dict(self._names)
        for _, node in statements(self._program.entry):
            match node:
                case Let(name=name, value=value) | Assign(name=name, value=value):
                    self._names[name] = self._names.get(name, _From.NOTHING) | self._source(value)
                case Loop(var=name, start=start, stop=stop):
                    if self._source(start) | self._source(stop):
                        self._names[name] = _From.ID
                case _:
                    pass
        return self._names != before


def leaves(node: Node) -> bool:
    """Whether an invocation may leave the program inside this statement."""
    return any(isinstance(inner, Return) for _, inner in statements((node,)))


def _as_written(line: str) -> tuple[str, str, str] | None:
    """The buffer, the index and the value of `buffer[index] += value`, if that is the whole line."""
    try:
        body = ast.parse(line.strip()).body
    except SyntaxError:
        return None
    match body:
        case [ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=index), value=value)]:
            parts = name, ast.unparse(index), ast.unparse(value)
            return parts if sum(map(len, parts)) <= _LONGEST_SHOWN else None
        case _:
            return None
