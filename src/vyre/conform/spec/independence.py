"""The independence gate: an oracle must not reach what it judges.

A test that computes its expected value with the target's own definition, or with a lowering, agrees with
itself whatever the op does. Two looks find it: the import graph of the oracle's module, which sees what
could be called, and a trace of the oracle at work, which sees what was.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType

    from vyre.conform.spec.op import OpSpec

LOWERINGS = ("vyre.lower", "vyre.backends")


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


def by_imports(oracle: Callable[..., Any], target: OpSpec) -> list[Violation]:
    """The chains of imports from the oracle's module to a forbidden one."""
    start = inspect.unwrap(oracle).__module__
    forbidden = (_plain(target.cpu_fn).__module__, *LOWERINGS)
    chains = _chains(start)
    return [
        Violation("imports", " -> ".join(chain))
        for module, chain in chains.items()
        if any(module == f or module.startswith(f"{f}.") for f in forbidden)
    ]


def _plain(function: Callable[..., Any]) -> Any:
    return inspect.unwrap(getattr(function, "func", function))


def _chains(start: str) -> dict[str, tuple[str, ...]]:
    """Every module that can be reached, with the first chain of imports to it."""
    packages = {"vyre", start.partition(".")[0]}
    chains: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    while waiting:
        module = waiting.pop(0)
        for name in _imports(module):
            if name not in chains and name.partition(".")[0] in packages:
                chains[name] = (*chains[module], name)
                waiting.append(name)
    return chains


def _imports(module: str) -> Iterator[str]:
    source = _source(module)
    if source is None:
        return
    for node in _runtime_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


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
    places = tuple(f"/{name.replace('.', '/')}/" for name in LOWERINGS)
    seen: dict[str, Violation] = {}

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code is own:
            seen["own"] = Violation("call", f"it calls the definition of {target.id}")
        elif any(place in code.co_filename.replace("\\", "/") for place in places):
            seen[code.co_filename] = Violation("call", f"it calls {code.co_name} of a lowering")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        for values in inputs:
            oracle(*values)
    finally:
        sys.setprofile(before)
    return list(seen.values())
