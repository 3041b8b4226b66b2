"""The body of an op as the inliner leaves it, as one expression of its parameters.

The op is called from a program, the program is inlined as for any backend, and its statements are executed
on expressions: a `Let` names one, an `Assign` under an `If` becomes a `Select`, a loop between literal bounds
is written out. What comes out is what a backend is given, ready for a solver.
"""

from __future__ import annotations

import re
from collections import ChainMap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.compose.inline import inline
from vyre.errors import OpError
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import Call, Expr, InvocationId, LitU32, Load, Select, Var
from vyre.ir.node import Assign, Block, Break, If, Let, Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.walk import postorder, rebuild, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    from vyre.compose.registry import Registry
    from vyre.ir.op import Op

RESULT = "result"
MAX_STEPS = 4096
"""Iterations of loops that are written out."""

_PREFIX = re.compile(r"__call\d+_")

Environment = ChainMap[str, Expr]


def call_program(op: Op) -> Program:
    """One call of the op on element i of a buffer per parameter, into `result`."""
    at = InvocationId(0)
    inputs = [BufferDecl.read(p.name, k + 1, p.type) for k, p in enumerate(op.params)]
    output = BufferDecl.read_write(RESULT, 0, op.output)
    call = Call(op.id, tuple(Load(p.name, at) for p in op.params))
    return Program((output, *inputs), (64, 1, 1), (output.store(at, call),))


def inlined_body(op: Op, *, registry: Registry | None = None) -> Expr:
    """The result of the op over `Var`s named as its parameters."""
    program = inline(call_program(op), registry)
    loads = {b.name for b in program.buffers if b.access is BufferAccess.ReadOnly}
    memory: dict[str, Expr] = {}
    _execute(program.entry, ChainMap(), memory, loads, [MAX_STEPS])
    return memory[RESULT]


@dataclass(frozen=True, slots=True)
class LoopParts:
    """An op with one loop, in three parts. `state` are its variables that the loop assigns, and others that
    were asked for, without the prefix the inliner gave them; the parts are over `Var`s of those names and of
    the parameters."""

    state: tuple[str, ...]
    turns: range
    before: Mapping[str, Expr]
    after: Expr
    step: Callable[[int], Mapping[str, Expr]]


def loop_parts(
    op: Op, *, registry: Registry | None = None, inlined: bool = True, named: tuple[str, ...] = ()
) -> LoopParts:
    """The op of which one statement, at the top, is a loop between literal bounds.

    A loop may begin with a `Break`: its turns then change nothing from there on, as the condition is one of
    the state alone. Where the op is not `inlined`, its calls stay in the parts. The steps before the loop
    that are `named` are variables in the parts, with what they hold in `before`.
    """
    program = inline(call_program(op), registry)
    loads = {b.name for b in program.buffers if b.access is BufferAccess.ReadOnly} if inlined else set[str]()
    entry = program.entry if inlined else (*op.body, Store(RESULT, LitU32(0), _result(op)))
    at, loop = next((k, n) for k, n in enumerate(entry) if isinstance(n, Loop))
    assert isinstance(loop.start, LitU32)
    assert isinstance(loop.stop, LitU32)
    assigned = sorted({n.name for _, n in statements(loop.body) if isinstance(n, Assign)})
    short = {name: _PREFIX.sub("", name) for name in assigned}
    env: Environment = ChainMap({} if inlined else {p.name: Var(p.name) for p in op.params})
    _execute(entry[:at], env, {}, loads, [MAX_STEPS])
    free = {name: short.get(name) or _PREFIX.sub("", name) for name in env}
    free = {name: shown for name, shown in free.items() if name in short or shown in named}
    before = {shown: env[name] for name, shown in free.items()}
    env.update({name: Var(shown) for name, shown in free.items()})
    ended, body = _ending(loop)

    def step(turn: int) -> Mapping[str, Expr]:
        inner: Environment = ChainMap(dict(env))
        inner[loop.var] = LitU32(turn)
        _execute(body, inner, {}, loads, [MAX_STEPS])
        if ended is None:
            return {short[name]: inner[name] for name in assigned}
        over = _over(ended, env, loads)
        return {short[name]: Select(over, env[name], inner[name]) for name in assigned}

    memory: dict[str, Expr] = {}
    _execute(entry[at + 1 :], ChainMap({}, dict(env)), memory, loads, [MAX_STEPS])
    turns = range(loop.start.value, loop.stop.value)
    return LoopParts(tuple(before), turns, before, memory[RESULT], step)


def _result(op: Op) -> Expr:
    assert op.result is not None
    return op.result


def _ending(loop: Loop) -> tuple[Expr | None, tuple[Node, ...]]:
    """The condition under which the loop ends at the beginning of a turn, if it does, and the rest of it."""
    match loop.body:
        case (If(condition=condition, then=(Break(),), orelse=()), *rest) if Var(loop.var) not in postorder(
            condition
        ):
            return condition, tuple(rest)
        case _:
            return None, loop.body


def _execute(
    nodes: Sequence[Node],
    env: Environment,
    memory: MutableMapping[str, Expr],
    loads: set[str],
    left: list[int],
) -> None:
    for node in nodes:
        match node:
            case Let(name=name, value=value):
                env[name] = _over(value, env, loads)
            case Assign(name=name, value=value):
                _assign(env, name, _over(value, env, loads))
            case Store(buffer=buffer, value=value):
                memory[buffer] = _over(value, env, loads)
            case Block(body=body):
                _execute(body, env.new_child(), memory, loads, left)
            case If(condition=condition):
                _branch(node, _over(condition, env, loads), env, memory, loads, left)
            case Loop(var=variable, start=start, stop=stop, body=body):
                bounds = (_over(start, env, loads), _over(stop, env, loads))
                if not all(isinstance(b, LitU32) for b in bounds):
                    raise OpError("a loop has bounds that are not literals.", fix="prove this op otherwise.")
                first, last = (b.value for b in bounds if isinstance(b, LitU32))
                for turn in range(first, last):
                    left[0] -= 1
                    if left[0] < 0:
                        raise OpError(
                            f"loops of more than {MAX_STEPS} steps are not written out.",
                            fix="prove this op otherwise.",
                        )
                    inner = env.new_child({variable: LitU32(turn)})
                    _execute(body, inner, memory, loads, left)
            case _:
                raise OpError(
                    f"a {type(node).__name__} in an op is not a function of its parameters.",
                    fix="prove this op otherwise.",
                )


def _branch(
    node: If,
    condition: Expr,
    env: Environment,
    memory: MutableMapping[str, Expr],
    loads: set[str],
    left: list[int],
) -> None:
    """Both branches are executed on copies; where they leave a variable different, the condition selects."""
    branches: list[Environment] = []
    for body in (node.then, node.orelse):
        copy = ChainMap(*(dict(scope) for scope in env.maps))
        _execute(body, copy.new_child(), memory, loads, left)
        branches.append(copy)
    taken, other = branches
    for scope, yes, no in zip(env.maps, taken.maps, other.maps, strict=True):
        for name in scope:
            scope[name] = yes[name] if yes[name] is no[name] else Select(condition, yes[name], no[name])


def _assign(env: Environment, name: str, value: Expr) -> None:
    scope = next(s for s in env.maps if name in s)
    scope[name] = value


def _over(root: Expr, env: Environment, loads: set[str]) -> Expr:
    """The expression with variables replaced by what they hold, and loads of inputs by parameters."""
    done: dict[Expr, Expr] = {}
    for expr in postorder(root):
        match expr:
            case Var(name=name):
                done[expr] = env[name]
            case Load(buffer=buffer) if buffer in loads:
                done[expr] = Var(buffer)
            case _:
                done[expr] = rebuild(expr, tuple(done[c] for c in expr.children))
    return done[root]
