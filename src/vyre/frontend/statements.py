"""Python statements as nodes, each with the place it was written at."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre.frontend import operators
from vyre.frontend.expressions import Expressions, has_atomic, index_value
from vyre.frontend.scope import Local, Scope
from vyre.frontend.signature import evaluate, require_name, value_type
from vyre.frontend.stored import element_value, require_value
from vyre.frontend.values import Buffer, Const, Effect, PyObject, Refused, SharedMemory, Value, describe
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, BinOp, Call, Expr, FReduce, FReduceApprox, LitU32, Load, Select, Var
from vyre.ir.limits import MAX_NESTING
from vyre.ir.node import Assign, If, Let, Loop, Node, Return, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import BODY_NAMES, postorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.errors import SourceLocation
    from vyre.frontend.calls import Linker
    from vyre.frontend.source import Source
    from vyre.frontend.values import Operand

U32 = DataType.U32

_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.While: ("`while`", "write `for i in range(limit)` with an `if` inside; every loop has a bound."),
    ast.Break: ("`break`", "keep a flag and put the rest of the body under an `if`."),
    ast.Continue: ("`continue`", "put the rest of the body under an `if`."),
    ast.Try: ("`try`", "remove it; nothing in a kernel raises."),
    ast.Raise: ("`raise`", "store an error code into a buffer."),
    ast.Assert: ("`assert`", "store a flag into a buffer and check it on the host."),
    ast.With: ("`with`", "remove it."),
    ast.Global: ("`global`", "pass buffers and scalars as parameters."),
    ast.Nonlocal: ("`nonlocal`", "pass buffers and scalars as parameters."),
    ast.Import: ("`import`", "import above the function."),
    ast.ImportFrom: ("`import`", "import above the function."),
    ast.FunctionDef: ("a nested `def`", "define the function above the kernel and call it."),
    ast.AsyncFunctionDef: ("`async def`", "define a plain function above the kernel."),
    ast.ClassDef: ("`class`", "use buffers and scalars."),
    ast.Delete: ("`del`", "remove it; a name ends with its block."),
    ast.Match: ("`match`", "write `if` and `elif`."),
    ast.AsyncFor: ("`async for`", "write a plain `for`."),
    ast.AsyncWith: ("`async with`", "remove it."),
}


@dataclass(frozen=True, slots=True)
class Written:
    """A statement, where it was written, and the statements inside it."""

    node: Node
    location: SourceLocation
    bodies: tuple[list[Written], ...] = ()


class Statements:
    """Translates the body of one function."""

    def __init__(
        self, source: Source, scope: Scope, names: Mapping[str, Any], linker: Linker, *, in_op: bool
    ) -> None:
        self.shared: list[BufferDecl] = []
        self._source = source
        self._scope = scope
        self._names = names
        self._in_op = in_op
        self._block: list[Written] = []
        self._expressions = Expressions(
            source, scope, names, lambda f, args, keywords: linker.call(f, args, keywords, in_op=in_op)
        )

    def translate(self, body: Sequence[ast.stmt]) -> list[Written]:
        """The statements of a block in the current scope."""
        outer, self._block = self._block, []
        for node in body:
            try:
                self._statement(node)
            except Refused as refusal:
                self._source.fail(node, refusal.message, refusal.fix)
        written, self._block = self._block, outer
        return written

    def value(self, node: ast.expr) -> Operand:
        return self._expressions.translate(node)

    def _emit(self, at: ast.stmt, node: Node, *bodies: list[Written]) -> None:
        self._block.append(Written(node, self._source.location(at), bodies))

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() | ast.Attribute() as target]):
                self._assign(node, target, self.value(node.value))
            case ast.Assign():
                raise Refused("two targets share one assignment.", "write one assignment per line.")
            case ast.AnnAssign():
                self._annotated(node)
            case ast.AugAssign():
                self._augmented(node)
            case ast.Expr():
                self._expression(node)
            case ast.If():
                self._if(node)
            case ast.For():
                self._for(node)
            case ast.Return():
                self._return(node)
            case ast.Pass():
                pass
            case _:
                what, fix = _REFUSED.get(type(node), (f"`{type(node).__name__}`", "use plain statements."))
                raise Refused(f"{what} has no meaning in a kernel.", fix)

    def _assign(self, at: ast.stmt, target: ast.expr, value: Operand) -> None:
        match target:
            case ast.Name(id=name):
                self._bind(at, target, name, value)
            case ast.Subscript():
                owner, index = self._target(target)
                self._store(at, owner, index, self._before(at, value, index))
            case _:
                raise Refused("this cannot be assigned.", "assign a name or an element: x = …, out[i] = ….")

    def _bind(self, at: ast.stmt, target: ast.AST, name: str, value: Operand) -> None:
        local = self._scope.find(name)
        if local is None:
            require_name(self._source, target, name)
            self._first(at, name, value)
            return
        match local.kind:
            case "loop":
                raise Refused(f"the loop variable {name!r} cannot be assigned.", "use another name.")
            case "buffer":
                raise Refused(
                    f"the buffer {name!r} cannot be assigned.", f"store elements: {name}[i] = value."
                )
            case "scalar":
                raise Refused(f"the parameter {name!r} cannot be assigned.", "use another name.")
            case "variable":
                assert isinstance(local.operand, Value)
                self._emit(at, Assign(name, self._adapt(name, value, local.operand.type)))

    def _adapt(self, name: str, value: Operand, target: DataType) -> Expr:
        return operators.coerce(value, target, f"{name!r}").expr

    def _first(self, at: ast.stmt, name: str, value: Operand) -> None:
        if isinstance(value, SharedMemory):
            self._declare_shared(name, value)
            return
        if isinstance(value, (Buffer, PyObject, Effect)):
            raise Refused(f"{describe(value)} cannot be given a name.", "use it directly.")
        first = operators.number(value)
        self._emit(at, Let(name, first.expr))
        self._scope.declare(name, Local("variable", Value(Var(name), first.type)))

    def _declare_shared(self, name: str, memory: SharedMemory) -> None:
        if self._scope.nesting:
            raise Refused(
                "workgroup memory is declared inside a block.", "declare it at the top level of the kernel."
            )
        decl = BufferDecl.workgroup(name, memory.element, memory.count, atomic=memory.atomic)
        self.shared.append(decl)
        self._scope.declare(name, Local("buffer", Buffer(decl)))

    def _annotated(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name) or node.value is None:
            raise Refused("an annotation needs a name and a value.", "write x: u32 = 0.")
        target = value_type(evaluate(self._source, node.annotation, self._names, None))
        if target is None or target is DataType.Bytes:
            self._source.fail(node.annotation, "this is no value type.", "use a type such as u32 or f32.")
        value = operators.coerce(self.value(node.value), require_value(target), f"{node.target.id!r}")
        self._bind(node, node.target, node.target.id, value)

    def _augmented(self, node: ast.AugAssign) -> None:
        match node.target:
            case ast.Name(id=name):
                before = self.value(ast.copy_location(ast.Name(name, ast.Load()), node.target))
                if not isinstance(before, (Value, Const)):
                    raise Refused(f"{describe(before)} cannot be changed.", "change an element: a[i] += 1.")
                self._bind(node, node.target, name, operators.binary(node.op, before, self.value(node.value)))
            case ast.Subscript():
                owner, index = self._target(node.target)
                index = self._once(node, f"{owner.decl.name}_index", index)
                before = Value(Load(owner.decl.name, index.expr), owner.decl.element.loaded)
                after = operators.binary(node.op, before, self.value(node.value))
                self._store(node, owner, index, after)
            case _:
                raise Refused("this cannot be changed.", "change a name or an element: x += 1, a[i] += 1.")

    def _before(self, at: ast.stmt, value: Operand, index: Value) -> Operand:
        """The stored value, named first where Python's order (value, then index) can be observed."""
        if not isinstance(value, Value):
            return value
        first, second = value.expr, index.expr
        if (has_atomic(first) and _touches(second)) or (has_atomic(second) and _touches(first)):
            return self._once(at, "stored", value)
        return value

    def _once(self, at: ast.stmt, stem: str, value: Value) -> Value:
        """The value under a name, where writing it twice would load or count twice."""
        if not _touches(value.expr):
            return value
        name = self._scope.fresh(stem)
        self._emit(at, Let(name, value.expr))
        return Value(Var(name), value.type)

    def _target(self, target: ast.Subscript) -> tuple[Buffer, Value]:
        owner = self.value(target.value)
        if not isinstance(owner, Buffer):
            raise Refused(f"elements of {describe(owner)} cannot be assigned.", "store into a buffer.")
        if isinstance(target.slice, ast.Tuple):
            raise Refused("a buffer has one index.", "flatten it: out[y * width + x] = value.")
        if not owner.decl.access.writable:
            raise Refused(
                f"the buffer {owner.decl.name!r} is {owner.decl.access.value} and cannot be stored into.",
                f"annotate it Out or InOut: {owner.decl.name}: InOut[…].",
            )
        return owner, index_value(owner, self.value(target.slice))

    def _store(self, at: ast.stmt, owner: Buffer, index: Value, value: Operand) -> None:
        decl = owner.decl
        stored = element_value(value, decl.element, f"an element of {decl.name!r}")
        self._emit(at, Store(decl.name, index.expr, stored.expr))

    def _expression(self, node: ast.Expr) -> None:
        value = self.value(node.value)
        match value:
            case Effect(node=effect):
                self._emit(node, effect)
            case Value(expr=expr) if has_atomic(expr):
                self._emit(node, Let(self._scope.fresh("unused"), expr))
            case PyObject(value=text) if isinstance(text, str) or text is ...:
                pass
            case _:
                raise Refused("this value is not used.", "assign it, store it, or remove the line.")

    def _if(self, node: ast.If) -> None:
        condition = operators.truth(self.value(node.test))
        then = self._inside(node, "if", node.body)
        orelse = self._inside(node, "if", node.orelse)
        bodies = [w.node for w in then], [w.node for w in orelse]
        self._emit(node, If(condition.expr, *map(tuple, bodies)), then, orelse)

    def _inside(
        self, at: ast.stmt, keyword: str, body: Sequence[ast.stmt], *, variable: str | None = None
    ) -> list[Written]:
        if self._scope.nesting >= MAX_NESTING:
            raise Refused(
                f"blocks are nested more than {MAX_NESTING} levels deep; each `elif` counts as one.",
                "move some of them into functions.",
            )
        self._scope.enter(f"{keyword} at line {self._source.location(at).line}")
        if variable is not None:
            self._scope.declare(variable, Local("loop", Value(Var(variable), U32)))
        try:
            return self.translate(body)
        finally:
            self._scope.leave()

    def _for(self, node: ast.For) -> None:
        if node.orelse:
            raise Refused("`else` of a loop has no meaning in a kernel.", "put it after the loop.")
        if not isinstance(node.target, ast.Name):
            raise Refused("a loop has one variable.", "write for i in range(n).")
        name = node.target.id
        require_name(self._source, node.target, name)
        if self._scope.find(name) is not None:
            raise Refused(f"the loop variable {name!r} is the name of another value.", "use another name.")
        start, stop, step = self._range(node.iter)
        if step == 1:
            body = self._inside(node, "for", node.body, variable=name)
            self._emit(node, Loop(name, start.expr, stop.expr, tuple(w.node for w in body)), body)
            return
        # Steps are counted, and the variable is computed from the count: no bound can be overrun.
        low = self._once(node, f"{name}_start", start).expr
        high = self._once(node, f"{name}_stop", stop).expr
        span, counter = self._scope.fresh(f"{name}_span"), self._scope.fresh(f"{name}_step")
        self._emit(node, Let(span, Select(low < high, high - low, LitU32(0))))
        trips = Var(span) // step + BinOp(BinaryOp.Ne, Var(span) % step, LitU32(0))
        head = Written(Let(name, low + Var(counter) * step), self._source.location(node))
        body = [head, *self._inside(node, "for", node.body, variable=name)]
        self._emit(node, Loop(counter, LitU32(0), trips, tuple(w.node for w in body)), body)

    def _range(self, node: ast.expr) -> tuple[Value, Value, int]:
        callee = self.value(node.func) if isinstance(node, ast.Call) else None
        is_range = isinstance(callee, PyObject) and callee.value is range
        if not isinstance(node, ast.Call) or not is_range or node.keywords or not 1 <= len(node.args) <= 3:
            self._source.fail(
                node, "a loop runs over range() only.", "write for i in range(n), or range(len(a)) and a[i]."
            )
        bounds = [self.value(arg) for arg in node.args]
        step = bounds.pop() if len(bounds) == 3 else Const(1)
        if not isinstance(step, Const) or not isinstance(step.value, int) or step.value < 1:
            self._source.fail(
                node.args[-1],
                "the step of range() is not a positive constant.",
                "count upwards and compute the index: j = n - 1 - i.",
            )
        low = bounds[0] if len(bounds) == 2 else Const(0)
        start, stop = (self._bound(b, at) for b, at in zip((low, bounds[-1]), node.args * 2, strict=False))
        return start, stop, int(step.value)

    def _bound(self, bound: Operand, at: ast.expr) -> Value:
        try:
            return operators.coerce(bound, U32, "a bound of range()")
        except Refused as refusal:
            self._source.fail(at, refusal.message, refusal.fix)

    def _return(self, node: ast.Return) -> None:
        if self._in_op:
            raise Refused(
                "an op returns once, at its end.", "assign the result to a variable and return it last."
            )
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            raise Refused("a kernel returns no value.", "store it into a buffer: out[i] = value.")
        self._emit(node, Return())


def _touches(expr: Expr) -> bool:
    return any(isinstance(part, (Load, Atomic, Call, FReduce, FReduceApprox)) for part in postorder(expr))


def locations(written: list[Written], root: str = "entry") -> dict[str, SourceLocation]:
    """The place of every statement, by its path in the program."""
    found: dict[str, SourceLocation] = {}
    stack = [(f"{root}[{i}]", w) for i, w in enumerate(written)]
    while stack:
        path, item = stack.pop()
        found[path] = item.location
        for name, body in zip(BODY_NAMES.get(type(item.node), ()), item.bodies, strict=True):
            stack.extend((f"{path}.{name}[{i}]", w) for i, w in enumerate(body))
    return found
