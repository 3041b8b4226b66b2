"""The independence gate: an oracle must not reach what it judges.

A test that computes its expected value with the target's own definition, or with a lowering, agrees with
itself whatever the op does. Two looks find it: the import graph of the oracle's module, which sees what
could be called, and a trace of the oracle at work, which sees what was.

The definition of a spec is the oracle of every backend, so it must reach no lowering and no soft float. Its
laws and alternates are tests of the op, so they must say something: a law whose two sides are one term, and
an alternate that is the op's own expression, agree with any op.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.conform.spec.op import ExpressionForm
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import Relation
from vyre.errors import OpError
from vyre.ir.expr import Var
from vyre.semantics.domain import CONCRETE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType

    from vyre.conform.spec.op import OpSpec

LOWERINGS = ("vyre.lower", "vyre.backends")

JUDGED = (*LOWERINGS, "vyre.numeric")
"""What the definition of a spec is compared with."""

GATEKEEPERS = ("vyre.conform.registry.admission",)
"""Modules that look at lowerings and compute nothing from them; no chain of imports goes through them."""


@dataclass(frozen=True, slots=True)
class Violation:
    """How an oracle reaches its target: by `imports` or by `call`, and the way there."""

    by: str
    way: str


def check(oracle: Callable[..., Any], target: OpSpec, inputs: Iterable[tuple[Any, ...]]) -> list[Violation]:
    """Every way in which the oracle reaches the target's definition or a lowering."""
    return [*by_imports(oracle, target), *by_calls(oracle, target, inputs)]


def require_independent(
    oracle: Callable[..., Any], target: OpSpec, inputs: Iterable[tuple[Any, ...]]
) -> None:
    """Raises `OpError` for a tautological oracle."""
    found = check(oracle, target, inputs)
    if found:
        raise OpError(
            f"the oracle of {target.id} is not independent: {found[0].way}.",
            fix="compute the expected value without the op's definition and without a lowering.",
        )


def require_independent_spec(spec: OpSpec) -> None:
    """Raises `OpError` for a spec whose definition reaches what it judges, or whose tests say nothing."""
    found = check_spec(spec)
    if found:
        raise OpError(
            f"{spec.id} is rejected by the independence gate: {found[0].way}.",
            fix="compute the definition from its operands, without vyre.lower, vyre.backends or "
            "vyre.numeric; let laws and alternates compare the op with something else than itself.",
        )


def check_spec(spec: OpSpec) -> list[Violation]:
    """Every way in which the definition reaches a lowering, and every test that cannot fail."""
    start = _plain(spec.cpu_fn).__module__
    found = [Violation("imports", " -> ".join(chain)) for chain in _reaching(start, JUDGED)]
    found += _lowerings_called(lambda: spec.cpu_fn(CONCRETE, *(0,) * spec.words))
    for law in (*spec.laws, *spec.properties):
        found += [
            Violation("law", f"the two sides of {equation} are the same")
            for equation in sides(law, spec)
            if equation.lhs == equation.rhs and equation.relation is Relation.Eq
        ]
    if isinstance(spec.form, ExpressionForm):
        operands = tuple(Var(f"x{k}") for k in range(spec.arity))
        own = spec.form.build(operands)
        found += [
            Violation("alternate", f"the alternate {a.name!r} is the op's own expression")
            for a in spec.alternates
            if a.build(operands) is own
        ]
    return found


def _lowerings_called(work: Callable[[], object]) -> list[Violation]:
    seen: dict[str, Violation] = {}

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and _lies_in(frame.f_code, JUDGED):
            code = frame.f_code
            seen[code.co_filename] = Violation(
                "call", f"its definition calls {code.co_name} of what it judges"
            )

    _traced(watch, work)
    return list(seen.values())


def by_imports(oracle: Callable[..., Any], target: OpSpec) -> list[Violation]:
    """The chains of imports from the oracle's module to a forbidden one."""
    start = inspect.unwrap(oracle).__module__
    forbidden = (_plain(target.cpu_fn).__module__, *LOWERINGS)
    return [Violation("imports", " -> ".join(chain)) for chain in _reaching(start, forbidden)]


def _reaching(start: str, forbidden: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [
        chain
        for module, chain in _chains(start).items()
        if any(module == f or module.startswith(f"{f}.") for f in forbidden)
    ]


def _plain(function: Callable[..., Any]) -> Any:
    return inspect.unwrap(getattr(function, "func", function))


@cache
def _chains(start: str) -> dict[str, tuple[str, ...]]:
    """Every module that can be reached, with the first chain of imports to it."""
    packages = {"vyre", start.partition(".")[0]}
    chains: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    while waiting:
        module = waiting.pop(0)
        for name in _imports(module):
            if name not in chains and name.partition(".")[0] in packages and name not in GATEKEEPERS:
                chains[name] = (*chains[module], name)
                waiting.append(name)
    return chains


@cache
def _imports(module: str) -> tuple[str, ...]:
    source = _source(module)
    found: list[str] = []
    for node in _runtime_nodes(ast.parse(source or "")):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(found)


def _runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING`, which import nothing."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _source(module: str) -> str | None:
    try:
        loaded = sys.modules.get(module)
        origin = getattr(loaded, "__file__", None) if loaded else None
        if origin is None:
            found = importlib.util.find_spec(module)
            origin = found.origin if found else None
        return Path(origin).read_text(encoding="utf-8") if origin and origin.endswith(".py") else None
    except (ImportError, AttributeError, ValueError, OSError):
        return None


def by_calls(
    oracle: Callable[..., Any], target: OpSpec, inputs: Iterable[tuple[Any, ...]]
) -> list[Violation]:
    """What the oracle called while it worked, as far as it was forbidden."""
    own: CodeType | None = getattr(_plain(target.cpu_fn), "__code__", None)
    seen: dict[str, Violation] = {}

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code is own:
            seen["own"] = Violation("call", f"it calls the definition of {target.id}")
        elif _lies_in(code, LOWERINGS):
            seen[code.co_filename] = Violation("call", f"it calls {code.co_name} of a lowering")

    _traced(watch, lambda: [oracle(*values) for values in inputs])
    return list(seen.values())


def _lies_in(code: CodeType, rooms: tuple[str, ...]) -> bool:
    path = code.co_filename.replace("\\", "/")
    return any(f"/{room.replace('.', '/')}/" in path for room in rooms)


def _traced(watch: Callable[[FrameType, str, object], None], work: Callable[[], object]) -> None:
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
