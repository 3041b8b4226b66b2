"""`for`: ranges, which are loops of the program, and constants, which are written out one after the other.

A range that counts by steps or downwards counts its turns, and the variable is computed from the count: no
bound is overrun, and nothing wraps on the way to 0. The variable is a u32; it is an i32 where a bound is one
or is a number below 0.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vyre.frontend import operators
from vyre.frontend.exits import leaves_loop, without_continue
from vyre.frontend.expressions import as_written, is_sequence, wrap
from vyre.frontend.scope import Local
from vyre.frontend.signature import require_name
from vyre.frontend.values import Const, Operand, PyObject, Refused, Several, Value, Written
from vyre.ir.expr import BinOp, Cast, Expr, LitI32, LitU32, Select, Var
from vyre.ir.limits import U32_MAX
from vyre.ir.node import BOUNDED_TURN, Block, Let, Loop
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.frontend.translator import BodyTranslator

U32, I32 = DataType.U32, DataType.I32
MOST_UNROLLED = 1_024
_TABLE_FIX = "write for i in range(n), or range(len(a)) and a[i]."


def translate_for(t: BodyTranslator, node: ast.For) -> None:
    """One `for` statement."""
    if node.orelse:
        raise Refused("`else` of a loop has no meaning in a kernel.", "put it after the loop.")
    for target in _targets(node.target):
        require_name(t.source, target, target.id)
        if t.scope.find(target.id) is not None:
            raise Refused(
                f"the loop variable {target.id!r} is the name of another value.", "use another name."
            )
    if isinstance(node.iter, ast.Call):
        callee = t.value(node.iter.func)
        called = callee.value if isinstance(callee, PyObject) else None
        if called is range:
            _range(t, node, node.iter)
            return
        if called is reversed and (downwards := _reversed_range(t, node.iter)) is not None:
            _range(t, node, downwards)
            return
        if called in (enumerate, zip, reversed) and node.iter.args and not node.iter.keywords:
            parts = [_items(t, arg) for arg in node.iter.args]
            first = enumerate(parts[0]) if called is enumerate else reversed(parts[0])
            _unroll(t, node, list(zip(*parts, strict=False) if called is zip else first))
            return
    _unroll(t, node, _items(t, node.iter))


def _reversed_range(t: BodyTranslator, call: ast.Call) -> ast.Call | None:
    """`reversed(range(n))` as the range downwards that it is; None for anything else."""
    match call.args:
        case [ast.Call(func=inner, args=[stop], keywords=[])]:
            callee = t.value(inner)
            if not isinstance(callee, PyObject) or callee.value is not range:
                return None
        case _:
            return None
    bounds = (ast.BinOp(stop, ast.Sub(), ast.Constant(1)), ast.Constant(-1), ast.Constant(-1))
    made = ast.copy_location(ast.Call(inner, list(bounds), []), call)
    return ast.fix_missing_locations(made)


def translate_while(t: BodyTranslator, node: ast.While) -> None:
    """`while vyre.bounded(condition, turns)`: a loop of so many turns, left where the condition fails."""
    if node.orelse:
        raise Refused("`else` of a loop has no meaning in a kernel.", "put it after the loop.")
    callee = t.value(node.test.func) if isinstance(node.test, ast.Call) else None
    builtin = getattr(callee.value, "__vyre_builtin__", "") if isinstance(callee, PyObject) else ""
    if builtin != "bounded" or not isinstance(node.test, ast.Call):
        raise Refused(
            "`while` has no bound.",
            f"write while vyre.bounded({ast.unparse(node.test)}, 1000):, which ends after 1000 turns.",
        )
    given = {k.arg: k.value for k in node.test.keywords}
    given |= dict(zip(("condition", "turns"), node.test.args, strict=False))
    if set(given) != {"condition", "turns"} or len(node.test.args) + len(node.test.keywords) != 2:
        t.source.fail(node.test, "vyre.bounded takes two arguments.", "write vyre.bounded(condition, turns).")
    turns = _bound(t, given["turns"], t.value(given["turns"]))
    stop = ast.copy_location(ast.Break(), node)
    leave = ast.If(ast.UnaryOp(ast.Not(), given["condition"]), [stop], [])
    for made in (leave, leave.test):
        ast.copy_location(made, given["condition"])
    body = without_continue(node.body, t.scope.fresh)
    counter = t.scope.fresh(BOUNDED_TURN)
    written = t.inside(node, "while", [leave, *body])
    t.emit(node, Loop(counter, LitU32(0), turns.expr, tuple(w.node for w in written)), written)


def _targets(target: ast.expr) -> list[ast.Name]:
    if isinstance(target, ast.Name):
        return [target]
    if not isinstance(target, ast.Tuple):
        raise Refused("the variable of a loop must be a name.", "write for i in range(n).")
    return [name for part in target.elts for name in _targets(part)]


def _items(t: BodyTranslator, node: ast.expr) -> Sequence[Any]:
    """The elements of something that is known now."""
    written = ast.copy_location(ast.Tuple(node.elts, node.ctx), node) if isinstance(node, ast.List) else node
    found = _known(t.value(written))
    if not (is_sequence(found) or isinstance(found, range)):
        t.source.fail(node, "a loop runs over range() only, or over constants.", _TABLE_FIX)
    return list(found)


def _known(operand: Operand) -> Any:
    """The Python object behind an operand; None where it is a value of the running kernel."""
    match operand:
        case PyObject(value=value) | Const(value=value):
            return value
        case Several(items=items):
            parts = tuple(_known(item) for item in items)
            return None if any(part is None for part in parts) else parts
        case _:
            return None


def _unroll(t: BodyTranslator, node: ast.For, items: Sequence[Any]) -> None:
    if len(items) > MOST_UNROLLED:
        raise Refused(
            f"a loop over {len(items)} constants would be written out {len(items)} times.",
            "write for k in range(len(table)) and index the table: table[k].",
        )
    body = without_continue(node.body, t.scope.fresh)
    with t.block() as turns:
        for item in items:
            declared: dict[str, Local] = {}
            _bind(node.target, item, declared)
            written = t.inside(node, "for", body, declared)
            t.emit(node, Block(tuple(w.node for w in written)), written)
    if not leaves_loop(body):
        t.add(turns)
        return
    # A loop of one turn is what `break` ends.
    t.emit(node, Loop(t.scope.fresh("once"), LitU32(0), LitU32(1), tuple(w.node for w in turns)), turns)


def _bind(target: ast.expr, item: Any, declared: dict[str, Local]) -> None:
    if isinstance(target, ast.Name):
        declared[target.id] = Local("loop", wrap(item))
        return
    assert isinstance(target, ast.Tuple)
    parts = list(item) if is_sequence(item) else [item]
    if len(parts) != len(target.elts):
        raise Refused(
            f"{len(target.elts)} names stand for {item!r}.", "write as many names as each element has parts."
        )
    for part, value in zip(target.elts, parts, strict=True):
        _bind(part, value, declared)


def _range(t: BodyTranslator, node: ast.For, call: ast.Call) -> None:
    if not isinstance(node.target, ast.Name):
        raise Refused("a loop over range() has one variable.", "write for i in range(n).")
    if call.keywords or not 1 <= len(call.args) <= 3:
        t.source.fail(call, "range() takes one to three numbers.", "write for i in range(n).")
    step = t.value(call.args[2]) if len(call.args) == 3 else Const(1)
    if not isinstance(step, Const) or type(step.value) is not int or step.value == 0:
        t.source.fail(
            call.args[-1],
            "the step of range() must be a constant other than 0.",
            "count upwards and compute the index: j = start + i * step.",
        )
    start = call.args[0] if len(call.args) > 1 else None
    stop = call.args[1] if start is not None else call.args[0]
    if step.value < 0:
        assert start is not None
        _downwards(t, node, start, stop, -step.value)
        return
    for bound in (start, stop):
        if bound is not None:
            _warn_of_wrapping(t, bound)
    given = (Const(0) if start is None else t.value(start), t.value(stop))
    if any(_below_0(bound) for bound in given):
        _signed(t, node, (start or stop, given[0]), (stop, given[1]), step.value)
        return
    low, high = _bound(t, start or stop, given[0]), _bound(t, stop, given[1])
    if step.value == 1:
        name, written = _body(t, node)
        t.emit(node, Loop(name, low.expr, high.expr, tuple(w.node for w in written)), written)
        return
    low = t.once(node, f"{node.target.id}_start", low)
    high = t.once(node, f"{node.target.id}_stop", high)
    span = Select(low.expr < high.expr, high.expr - low.expr, LitU32(0))
    _counted(t, node, _turns(t, node, span, step.value), low.expr, step.value, sign=1)


def _downwards(t: BodyTranslator, node: ast.For, start: ast.expr, stop: ast.expr, step: int) -> None:
    """`range(e - c, stop, -step)`: `e - c` does not wrap, and where e < c there are no turns."""
    assert isinstance(node.target, ast.Name)
    less, first = 0, start
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Sub):
        taken = t.value(first.right) if isinstance(first.right, (ast.Constant, ast.Name)) else None
        if not isinstance(taken, Const) or type(taken.value) is not int or taken.value < 0:
            break
        less, first = less + taken.value, first.left
    high, low = t.value(first), t.value(stop)
    to_0 = isinstance(low, Const) and low.value == -1
    if _below_0(high) or (_below_0(low) and not to_0):
        if isinstance(high, Const):
            high = Const(high.value - less)
        elif less:
            high = replace(high := _bound(t, start, high, I32), expr=high.expr - LitI32(less))
        _signed(t, node, (start, high), (stop, low), -step)
        return
    if isinstance(high, Const) and isinstance(low, Const):
        begin = int(high.value) - less
        turns: Expr = LitU32(len(range(begin, int(low.value), -step)))
        _counted(t, node, turns, LitU32(max(begin, 0)), step, sign=-1)
        return
    top = t.once(node, f"{node.target.id}_start", _bound(t, start, high)).expr
    taken_off = operators.constant(Const(less), U32).expr
    begin = top - taken_off if less else top
    if isinstance(low, Const) and int(low.value) + less < 0:
        # From any u32 to 0: the number of turns of a step of 1 may be one more than a u32 holds.
        last = BinOp(BinaryOp.Ne, top, LitU32(U32_MAX))
        turns = top // step + (1 if step > 1 else last)
    elif isinstance(low, Const):
        gap = operators.constant(Const(int(low.value) + less), U32).expr
        turns = _turns(t, node, Select(top > gap, top - gap, LitU32(0)), step)
    else:
        end = t.once(node, f"{node.target.id}_stop", _bound(t, stop, low)).expr
        goes = BinOp(BinaryOp.And, BinOp(BinaryOp.Ge, top, taken_off), BinOp(BinaryOp.Gt, begin, end))
        turns = _turns(t, node, Select(goes, begin - end, LitU32(0)), step)
    _counted(t, node, turns, begin, step, sign=-1)


def _below_0(bound: Operand) -> bool:
    """Whether a bound makes the variable an i32."""
    if isinstance(bound, Const):
        return type(bound.value) is int and bound.value < 0
    return isinstance(bound, Value) and bound.type is I32


def _signed(
    t: BodyTranslator,
    node: ast.For,
    start: tuple[ast.expr, Operand],
    stop: tuple[ast.expr, Operand],
    step: int,
) -> None:
    """A range whose variable is an i32: how far it is from one i32 to another is a u32."""
    assert isinstance(node.target, ast.Name)
    first, end = _bound(t, *start, I32), _bound(t, *stop, I32)
    match start[1], stop[1]:
        case Const(value=int(begin)), Const(value=int(last)):
            turns: Expr = LitU32(len(range(begin, last, step)))
        case _:
            first = t.once(node, f"{node.target.id}_start", first)
            end = t.once(node, f"{node.target.id}_stop", end)
            near, far = (first, end) if step > 0 else (end, first)
            goes = operators.truth(operators.compare(ast.Lt(), near, far))
            span = Select(goes.expr, Cast(U32, far.expr) - Cast(U32, near.expr), LitU32(0))
            turns = _turns(t, node, span, abs(step))
    _counted(t, node, turns, first.expr, abs(step), sign=1 if step > 0 else -1, kind=I32)


def _turns(t: BodyTranslator, node: ast.For, span: Expr, step: int) -> Expr:
    """How many steps it takes to cover the span."""
    if step == 1:
        return span
    assert isinstance(node.target, ast.Name)
    width = t.named(node, f"{node.target.id}_span", Value(span, U32)).expr
    return width // step + BinOp(BinaryOp.Ne, width % step, LitU32(0))


def _counted(
    t: BodyTranslator, node: ast.For, turns: Expr, first: Expr, step: int, *, sign: int, kind: DataType = U32
) -> None:
    assert isinstance(node.target, ast.Name)
    counter = t.scope.fresh(f"{node.target.id}_step")
    name, written = _body(t, node, kind)
    far = Var(counter) * step if step > 1 else Var(counter)
    far = Cast(I32, far) if kind is I32 else far
    head = Written(Let(name, first + far if sign > 0 else first - far), t.source.location(node))
    body = [head, *written]
    t.emit(node, Loop(counter, LitU32(0), turns, tuple(w.node for w in body)), body)


def _body(t: BodyTranslator, node: ast.For, kind: DataType = U32) -> tuple[str, list[Written]]:
    """What the variable is called in the program, and the statements of the body."""
    assert isinstance(node.target, ast.Name)
    name = t.scope.name_in_program(node.target.id)
    body = without_continue(node.body, t.scope.fresh)
    variable = Local("loop", Value(Var(name), kind))
    return name, t.inside(node, "for", body, {node.target.id: variable})


def _bound(t: BodyTranslator, at: ast.expr, bound: Operand, kind: DataType = U32) -> Value:
    match at, bound:
        case ast.UnaryOp(op=ast.USub(), operand=operand), Value(type=DataType.U32):
            shown = ast.unparse(operand)
            t.source.fail(at, f"`-{shown}` of a u32 is a number near 2^32.", f"write -i32({shown}).")
        case _:
            pass
    try:
        return operators.coerce(bound, kind, "a bound of range()")
    except Refused as refusal:
        t.source.fail(at, refusal.message, refusal.fix(as_written(at)))


def _warn_of_wrapping(t: BodyTranslator, bound: ast.expr) -> None:
    match bound:
        case ast.BinOp(op=ast.Sub(), left=ast.Name() | ast.Call() as left, right=ast.Constant(value=int())):
            pass
        case _:
            return
    if isinstance(left, ast.Call):
        callee = t.value(left.func)
        if not isinstance(callee, PyObject) or not hasattr(callee.value, "__vyre_builtin__"):
            return
    found = t.value(left)
    if isinstance(found, Value) and found.is_id:
        shown = ast.unparse(bound)
        t.source.warn(
            bound,
            f"`{shown}` wraps to a number near 2^32 in the first invocation, where the id is 0.",
            f"write max({ast.unparse(left)}, {ast.unparse(bound.right)}) - {ast.unparse(bound.right)}, or "
            "leave before the loop where the id is too small.",
        )
