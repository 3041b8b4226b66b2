"""Programs that the rules bite on, and what must not change when a program is optimised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from vyre.compose.inline import inline
from vyre.conform.generate.buffers import random_buffer
from vyre.conform.generate.expressions import ExpressionGenerator
from vyre.conform.generate.scope import Scope
from vyre.ir import Atomic, AtomicOp, BufferDecl, DataType, If, InvocationId, Let, Load, Program, Store, Var
from vyre.optimize.rewrite import instantiate
from vyre.optimize.rule import CONSTANTS
from vyre.optimize.rules import RULES
from vyre.reference import run

if TYPE_CHECKING:
    import pytest

    from vyre.conform.generate.programs import GeneratedProgram
    from vyre.ir import Expr, Node
    from vyre.optimize.rule import Rule

T = DataType
WORDS = (T.U32, T.I32, T.Bool)
_TYPES = (*WORDS, T.U64, T.Vec2U32, T.U128, T.Vec4U32)
_COUNT = 4


@dataclass(frozen=True, slots=True)
class Case:
    """A program and what it is run on."""

    program: Program
    inputs: dict[str, bytes]
    workgroups: tuple[int, int, int]

    @classmethod
    def of(cls, generated: GeneratedProgram) -> Case:
        return cls(inline(generated.program), generated.inputs, generated.workgroups)


class _Source:
    """Operands for metavariables: variables, loads, atomics, literals, and further patterns."""

    def __init__(self, rng: Random, scope: Scope) -> None:
        self._rng = rng
        self._scope = scope
        self._gen = ExpressionGenerator(rng, _TYPES, (), functions=False, approximate=False)

    def expr(self, t: DataType, depth: int) -> Expr:
        rng = self._rng
        if depth > 0 and rng.randrange(4):
            fitting = [r for r in rng.sample(RULES, 40) if self._result(r) is t]
            if fitting:
                return self.pattern(rng.choice(fitting), depth)
        if t is T.U32 and rng.randrange(6) == 0:
            value = self._gen.expr(self._scope, t, 0)
            return Atomic(rng.choice((AtomicOp.Add, AtomicOp.Xor, AtomicOp.Max)), "cnt", Var("i"), value)
        return self._gen.expr(self._scope, t, rng.randrange(2))

    def pattern(self, rule: Rule, depth: int) -> Expr:
        """An instance of the rule's pattern, its condition left to chance."""
        names = {name: self._rng.choice(rule.types_of(name)) for name in rule.types}
        shared = self._rng.choice(rule.types_of("y") if "y" in rule.types else (T.U32,))
        for name in ("y", "z", "w"):  # arms of a choice must agree
            if shared in rule.types.get(name, ()):
                names[name] = shared
        binding = {
            name: self._gen.literal(t) if name in CONSTANTS else self.expr(t, depth - 1)
            for name, t in names.items()
        }
        return instantiate(rule.pattern, binding)

    def _result(self, rule: Rule) -> DataType | None:
        return _RESULTS[rule.name]


def _result_type(rule: Rule) -> DataType | None:
    """The type of the pattern where it has only one, else None."""
    from tests.optimize.optimize_replay import type_over

    if any(len(types) > 1 for types in rule.types.values()):
        return None
    return type_over({name: types[0] for name, types in rule.types.items()}, rule.pattern)


_RESULTS = {rule.name: _result_type(rule) for rule in RULES}


def pattern_program(seed: int) -> Case:
    """A kernel whose expressions are patterns of rules inside patterns of rules."""
    rng = Random(f"patterns {seed}")
    buffers = [BufferDecl.read(f"in{i}", i, t, count=_COUNT) for i, t in enumerate(_TYPES)]
    buffers.append(BufferDecl.read_write("cnt", len(buffers), T.U32, count=_COUNT))
    scope = Scope(variables=[("i", T.U32)])
    entry: list[Node] = [Let("i", InvocationId(0))]
    for decl in list(buffers[: len(_TYPES)]):
        entry.append(Let(f"v_{decl.name}", Load(decl.name, Var("i"))))
        scope.variables.append((f"v_{decl.name}", decl.element))
    source = _Source(rng, scope)
    for number in range(rng.randrange(2, 6)):
        t = rng.choice((T.U32, T.U32, T.U32, *_TYPES))
        name = f"out{number}"
        buffers.append(BufferDecl.read_write(name, len(buffers), t, count=_COUNT))
        store = Store(name, Var("i"), source.expr(t, 3))
        entry.append(If(source.expr(T.U32, 2), (store,)) if rng.randrange(4) == 0 else store)
    inputs = {b.name: random_buffer(rng, b.element, _COUNT) for b in buffers[: len(_TYPES) + 1]}
    return Case(Program(buffers, (2, 1, 1), entry), inputs, (2, 1, 1))


def rule_program(rule: Rule, seed: int) -> Case:
    """A kernel that stores one instance of a rule over U32: its variables are words that were loaded."""
    rng = Random(f"rule {rule.name} {seed}")
    given = BufferDecl.read("given", 0, T.U32, count=_COUNT)
    out = BufferDecl.read_write("out", 1, T.U32, count=_COUNT)
    literal = ExpressionGenerator(rng, (T.U32,), (), functions=False, approximate=False).literal
    i, v = InvocationId(0), Var("v")
    instance = instantiate(rule.pattern, {n: literal(T.U32) if n in CONSTANTS else v for n in rule.types})
    program = Program([given, out], (_COUNT, 1, 1), [Let("v", given[i]), out.store(i, instance)])
    words = (0, 1, rng.randrange(1 << 16), rng.randrange(1 << 32))
    inputs = {"given": b"".join(n.to_bytes(4, "little") for n in words), "out": bytes(4 * _COUNT)}
    return Case(program, inputs, (1, 1, 1))


Observed = tuple[dict[str, bytes], list[Any], list[Any]]


def observe(monkeypatch: pytest.MonkeyPatch, case: Case, program: Program) -> Observed:
    """Bytes, stores in order and atomics in order with their operands, of one run."""
    from vyre.reference.observe import Observer

    stores: list[Any] = []
    plain = Observer.write

    def write(self: Any, invocation: Any, slot: int, index: int, place: Any) -> None:
        stores.append((invocation.ref, slot, index))
        plain(self, invocation, slot, index, place)

    with monkeypatch.context() as patch:
        patch.setattr(Observer, "write", write)
        result = run(program, case.inputs, case.workgroups, check=False, detect=True)
    atomics = [
        (h.buffer, h.element, h.workgroup, h.initial, h.final, [replace(x, place="") for x in h.events])
        for h in result.report.atomic_history
    ]
    return result.buffers, stores, atomics
