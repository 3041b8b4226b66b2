"""Python expressions as typed values.

Every kind of expression is a generator that asks for its parts, so that depth costs no stack.
"""

from __future__ import annotations

import ast
import numbers
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from vyre.frontend import operators
from vyre.frontend.constants import differs_from_python
from vyre.frontend.coordinates import refuse_rows, subscripts
from vyre.frontend.elsewhere import METHODS, spelling, unknown
from vyre.frontend.intrinsics import lane_of, length
from vyre.frontend.literals import python_float
from vyre.frontend.values import Buffer, Const, Operand, PyObject, Refused, Several, Value, describe
from vyre.ir.expr import Atomic, Expr, Load
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from vyre.frontend.coordinates import ElementIndex
    from vyre.frontend.scope import Scope
    from vyre.frontend.source import Source

    Steps = Generator[ast.expr, Operand, Operand]

    class Caller(Protocol):
        def __call__(
            self, function: PyObject, args: list[Operand], keywords: dict[str, Operand], /, *, whole: bool
        ) -> Operand: ...


_REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: ("`lambda`", "define a function with annotated parameters above the kernel and call it."),
    ast.ListComp: ("a comprehension", "write a `for` loop."),
    ast.SetComp: ("a comprehension", "write a `for` loop."),
    ast.DictComp: ("a comprehension", "write a `for` loop."),
    ast.GeneratorExp: ("a generator expression", "write a `for` loop."),
    ast.JoinedStr: ("an f-string", 'leave it out; vyre.debug_print("x =", x) prints text and values.'),
    ast.List: (
        "a list",
        "vyre.private(u32, 4) is an array of one invocation; a table is a tuple above the kernel.",
    ),
    ast.Set: ("a set", "use a buffer."),
    ast.Dict: ("a dict", "use a buffer."),
    ast.Await: ("`await`", "call the function plainly."),
    ast.Yield: ("`yield`", "store results into a buffer: out[i] = value."),
    ast.YieldFrom: ("`yield from`", "store results into a buffer: out[i] = value."),
    ast.NamedExpr: ("`:=`", "assign on a line of its own."),
    ast.Starred: ("`*`", "write every argument out."),
    ast.Slice: ("a slice", "use one element at a time: a[i]."),
}


class Expressions:
    """Translates expressions in one function's scope."""

    def __init__(
        self, source: Source, scope: Scope, names: Mapping[str, Any], call: Caller, buffers: ElementIndex
    ) -> None:
        self._source = source
        self._scope = scope
        self._names = names
        self._call = call
        self._buffers = buffers
        self._root: ast.expr | None = None
        self._parts: list[tuple[Operand, ast.expr]] = []
        self._locals = frozenset(source.function.__code__.co_varnames)

    def translate(self, root: ast.expr) -> Operand:
        """The operand of an expression. Raises `KernelError` at the part that has no meaning."""
        self._root = root
        stack: list[tuple[ast.expr, Steps]] = [(root, self._steps(root))]
        answer: Any = None
        while stack:
            node, steps = stack[-1]
            try:
                part = steps.send(answer)
            except StopIteration as done:
                stack.pop()
                answer = done.value
                self._parts.append((answer, node))
            except Refused as refusal:
                self.fail(node, refusal)
            else:
                stack.append((part, self._steps(part)))
                answer = None
        return answer

    def forget(self) -> None:
        """Another statement begins: what the operands of the one before were written as is of no more use."""
        self._parts.clear()

    def fail(self, node: ast.AST, refusal: Refused) -> NoReturn:
        """Raises `KernelError` with a fix in the words of the user, where the operand has any."""
        operand = refusal.operand
        written = next((at for part, at in self._parts if part is operand), None)
        fix = refusal.fix() if operand is None or written is None else refusal.fix(as_written(written))
        self._source.fail(node, refusal.message, fix)

    def _steps(self, node: ast.expr) -> Steps:
        match node:
            case ast.Constant(value=float()):
                return Const(self._source.float_literal(node))
            case ast.Constant(value=value):
                return wrap(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute():
                owner = yield node.value
                return self._attribute(owner, node.attr)
            case ast.BinOp():
                left = yield node.left
                right = yield node.right
                self._warn_of_truncation(node, left, right)
                return operators.binary(node.op, left, right)
            case ast.UnaryOp():
                operand = yield node.operand
                return operators.unary(node.op, operand)
            case ast.BoolOp():
                values = yield from _each(node.values)
                return operators.logical(node.op, values)
            case ast.Compare():
                operands = yield from _each([node.left, *node.comparators])
                return _chain(node.ops, operands)
            case ast.IfExp():
                condition = yield node.test
                if_true = yield node.body
                if_false = yield node.orelse
                return operators.choose(condition, if_true, if_false)
            case ast.Subscript():
                if isinstance(node.value, ast.Subscript):
                    base = yield subscripts(node)[0]
                    if isinstance(base, PyObject) and is_sequence(base.value):
                        return (yield from self._in_rows(base, node))
                    refuse_rows(base, node)
                owner = yield node.value
                index = yield node.slice
                return self._element(owner, index, node.value)
            case ast.Tuple():
                items = yield from _each(node.elts)
                return Several(tuple(items))
            case ast.Call():
                return (yield from self._called(node))
            case _:
                what, fix = _REFUSED.get(type(node), (f"`{type(node).__name__}`", "use numbers and buffers."))
                raise Refused(f"{what} has no meaning in a kernel.", fix)

    def _warn_of_truncation(self, node: ast.BinOp, left: Operand, right: Operand) -> None:
        if not (isinstance(left, Const) and isinstance(right, Const)):
            return
        if differs_from_python(node.op, left.value, right.value):
            given = f"{left.value} {'//' if isinstance(node.op, ast.FloorDiv) else '%'} {right.value}"
            self._source.warn(
                node,
                f"`{given}` truncates toward zero in a kernel; Python rounds down.",
                "compute the constant outside the kernel, or write (n + 63) // 64 to round up.",
            )

    def _called(self, node: ast.Call) -> Steps:
        function = yield node.func
        args = yield from _each(node.args)
        keywords: dict[str, Operand] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Refused("`**` has no meaning in a kernel.", "write every argument out.")
            keywords[keyword.arg] = yield keyword.value
        if not isinstance(function, PyObject):
            raise Refused(f"{describe(function)} cannot be called.", "call a function; index a buffer: a[i].")
        return self._call(function, args, keywords, whole=node is self._root)

    def _name(self, name: str) -> Operand:
        local = self._scope.find(name)
        if local is not None:
            return local.operand
        if name in self._locals:
            raise self._scope.missing(name)
        if name not in self._names and name == self._source.function.__name__:
            raise Refused(f"recursion has no meaning in a kernel: {name} → {name}.", "write a `for` loop.")
        if name not in self._names:
            raise Refused(f"the name {name!r} is not known here.", unknown(name))
        return wrap(self._names[name])

    def _in_rows(self, table: PyObject, node: ast.Subscript) -> Steps:
        """`TABLE[i][j]`: rows by indices that are known now, and what is left by coordinates."""
        base, indices = subscripts(node)
        parts: list[Operand] = []
        for index in indices:
            given = yield index
            parts += given.items if isinstance(given, Several) else [given]
        owner: Operand = table
        while parts and isinstance(parts[0], Const):
            owner = self._element(owner, parts.pop(0), base)
        if not parts:
            return owner
        return self._element(owner, parts[0] if len(parts) == 1 else Several(tuple(parts)), base)

    def _element(self, owner: Operand, index: Operand, at: ast.expr) -> Operand:
        """`owner[index]`: an element of a buffer, a lane of a value, or a part of a tuple."""
        match owner:
            case Buffer(decl=decl):
                return Value(Load(decl.name, self._buffers.index(owner, index).expr), decl.element.loaded)
            case Value():
                if not isinstance(index, Const) or isinstance(index.value, float):
                    raise Refused("a lane index is a constant.", "write x[0], or keep the lanes in a buffer.")
                return lane_of(owner, int(index.value))
            case Several(items=items):
                return items[_constant_index(items, index)]
            case PyObject(value=sequence) if is_sequence(sequence):
                if not is_constant(index):
                    table = self._buffers.table(sequence, at.id if isinstance(at, ast.Name) else "table")
                    return self._element(replace(table, shown=ast.unparse(at)), index, at)
                return _constant_element(sequence, index)
            case PyObject(value=dict()):
                raise Refused(
                    "a dict cannot be indexed in a kernel.", "keep its values in a tuple, by number."
                )
            case _:
                raise Refused(f"{describe(owner)} has no elements.", "index a buffer: a[i].")

    def _attribute(self, owner: Operand, name: str) -> Operand:
        match owner:
            case PyObject(value=value):
                if hasattr(value, name):
                    return wrap(getattr(value, name))
                kind = "module" if isinstance(value, ModuleType) else type(value).__name__
                shown = getattr(value, "__name__", repr(value))
                raise Refused(f"the {kind} {shown} has no {name!r}.", spelling(name, dir(value)))
            case Buffer() if name == "shape":
                return Several(self._buffers.shape(owner))
            case Buffer(decl=decl) if name == "size":
                return length(decl)
            case Buffer(decl=decl):
                fix = "write a `for` loop over its elements, or use vyre.engines on the host."
                known = name in (
                    "sum",
                    "min",
                    "max",
                    "mean",
                    "prod",
                    "any",
                    "all",
                    "argmax",
                    "argmin",
                    "sort",
                )
                fix = fix if known else f"index it: {decl.name}[i]; len({decl.name}) is its length."
                raise Refused(f"a buffer has no attribute {name!r}.", fix)
            case _:
                lanes = isinstance(owner, Value) and owner.type.lanes > 1
                fix = METHODS.get(name, "write a lane as x[0]." if lanes else "use operators and functions.")
                raise Refused(f"`.{name}` has no meaning on {describe(owner)}.", fix)


_LONGEST_SHOWN = 40


def as_written(node: ast.expr) -> str:
    """An expression as a part of another one; `x` where it is too long to be repeated in a message."""
    text = ast.unparse(node)
    if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Compare, ast.UnaryOp)):
        text = f"({text})"
    return text if len(text) <= _LONGEST_SHOWN else "x"


def _each(parts: list[ast.expr]) -> Generator[ast.expr, Operand, list[Operand]]:
    values: list[Operand] = []
    for part in parts:
        value = yield part
        values.append(value)
    return values


def wrap(value: Any) -> Operand:
    """A Python object that a kernel names: numbers are constants."""
    if isinstance(value, (bool, int, float)):
        return Const(value)
    if isinstance(value, numbers.Integral):
        return Const(int(value))
    if isinstance(value, numbers.Real):
        return Const(python_float(value))
    return PyObject(value)


def is_sequence(value: Any) -> bool:
    """A list, tuple or bytes of Python, or an array of NumPy, which is not imported for this question."""
    if isinstance(value, (list, tuple, bytes)):
        return True
    return type(value).__module__ == "numpy" and hasattr(value, "ndim")


def is_constant(index: Operand) -> bool:
    """Whether an index or all coordinates are known now."""
    parts = index.items if isinstance(index, Several) else (index,)
    return all(isinstance(part, Const) for part in parts)


def _constant_element(sequence: Any, index: Operand) -> Operand:
    """An element known now, such as a coefficient of a polynomial."""
    if isinstance(index, Several):
        for part in index.items:
            sequence = sequence[_constant_index(sequence, part)]
        return wrap(sequence)
    return wrap(sequence[_constant_index(sequence, index)])


def _constant_index(sequence: Any, index: Operand) -> int:
    if not isinstance(index, Const) or not isinstance(index.value, int):
        raise Refused(f"a part of a tuple has a constant index, not {describe(index)}.", "write x[0].")
    if not hasattr(sequence, "__len__"):
        raise Refused(f"{sequence!r} has no elements.", "use one index fewer.")
    if not -len(sequence) <= index.value < len(sequence):
        raise Refused(
            f"index {index.value} is outside the {len(sequence)} elements.", "use an index in range."
        )
    return int(index.value)


def has_atomic(expr: Expr) -> bool:
    return any(isinstance(part, Atomic) for part in postorder(expr))


def _chain(ops: list[ast.cmpop], operands: list[Operand]) -> Operand:
    for middle in operands[1:-1]:
        if isinstance(middle, Value) and has_atomic(middle.expr):
            raise Refused(
                "an atomic inside a chained comparison would run twice.", "assign it to a variable first."
            )
    parts = [operators.compare(op, a, b) for op, a, b in zip(ops, operands, operands[1:], strict=False)]
    return parts[0] if len(parts) == 1 else operators.logical(ast.And(), parts)
