"""Rules for ops: their bodies, their results, and the graph of who calls whom (V017, V043)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.limits import MAX_CALL_DEPTH, MAX_EXPR_DEPTH, MAX_NODES
from vyre.ir.op import Category
from vyre.ir.types import DataType
from vyre.validate.collectives import check_op_uniformity
from vyre.validate.context import Binding, Context
from vyre.validate.expansion import check_expansion, expansions
from vyre.validate.mismatch import conversion_hint
from vyre.validate.names import name_problem
from vyre.validate.oversized import check_oversized, too_deep_expression
from vyre.validate.statements import StatementChecker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ir.node import Node
    from vyre.ir.op import Op
    from vyre.validate.context import Ops
    from vyre.validate.gathered import Report

_FOREVER = MAX_CALL_DEPTH + 1


def check_called_ops(entry: Sequence[Node], calls: Mapping[str, str], ops: Ops, report: Report) -> None:
    """Checks every op that a program reaches, each once; `calls` has the path of each first call."""
    edges: dict[str, dict[str, str]] = {}
    cyclic: set[str] = set()
    for op_id, path in calls.items():
        report.site = report.locate(path)
        _explore(op_id, ops, edges, cyclic, report)
        report.site = None
    depths = _depths(edges)
    for op_id, path in calls.items():
        if op_id not in cyclic and depths[op_id] > MAX_CALL_DEPTH:
            _too_deep(op_id, path, report)
    if not cyclic and max(depths.values(), default=0) <= MAX_CALL_DEPTH:
        check_expansion(entry, calls, expansions(sorted(depths, key=depths.__getitem__), ops), report)


def check_op(op: Op, ops: Ops, report: Report) -> None:
    """Checks one op and all that it reaches."""
    edges: dict[str, dict[str, str]] = {}
    cyclic: set[str] = set()
    _explore(op.id, ops, edges, cyclic, report)
    depths = _depths(edges)
    if op.id not in cyclic and depths[op.id] > MAX_CALL_DEPTH:
        _too_deep(op.id, f"ops[{op.id}]", report)
    elif not cyclic:
        sizes = expansions(sorted(depths, key=depths.__getitem__), ops)
        check_expansion((), {op.id: f"ops[{op.id}]"}, sizes, report)


def _too_deep(op_id: str, path: str, report: Report) -> None:
    report.add(
        "V017",
        f"the calls below {op_id} go deeper than {MAX_CALL_DEPTH} levels.",
        "write the innermost ops out as expressions.",
        path,
    )


def _explore(root: str, ops: Ops, edges: dict[str, dict[str, str]], cyclic: set[str], report: Report) -> None:
    """Depth first through the calls; a call back into an op still open is recursion."""
    open_ops: dict[str, None] = {}
    stack: list[tuple[str, str, bool]] = [(root, "", False)]
    while stack:
        op_id, path, leaving = stack.pop()
        if leaving:
            del open_ops[op_id]
            if any(callee in cyclic for callee in edges[op_id]):
                cyclic.add(op_id)
        elif op_id in open_ops:
            names = list(open_ops)
            cycle = names[names.index(op_id) :]
            cyclic.update(cycle)
            _recursive(op_id, cycle, path, report)
        elif op_id not in edges:
            op = ops.get(op_id)
            if op is not None:
                edges[op_id] = _check_body(op, ops, report)
                open_ops[op_id] = None
                stack.append((op_id, "", True))
                stack.extend((callee, where, False) for callee, where in reversed(edges[op_id].items()))


def _recursive(op_id: str, cycle: list[str], path: str, report: Report) -> None:
    shown = cycle if len(cycle) <= 6 else [*cycle[:3], "...", *cycle[-2:]]
    report.add(
        "V017",
        f"{op_id} is called while it is being expanded: {' -> '.join([*shown, op_id])}.",
        "replace the recursion by a Loop with bounds.",
        path,
    )


def _depths(edges: dict[str, dict[str, str]]) -> dict[str, int]:
    """Levels of calls below and including each op, saturating; cycles count as too deep."""
    depths = dict.fromkeys(edges, 1)
    # Longest paths of at most 33 levels: as many rounds settle every op or show it to be too deep.
    for _ in range(_FOREVER):
        changed = False
        for op_id, callees in edges.items():
            below = max((depths.get(callee, 0) for callee in callees), default=0)
            level = min(below + 1, _FOREVER)
            if level > depths[op_id]:
                depths[op_id] = level
                changed = True
        if not changed:
            break
    return depths


def _check_body(op: Op, ops: Ops, report: Report) -> dict[str, str]:
    """Reports what is wrong inside one op; gives the ops it calls, each with its first place."""
    root = f"ops[{op.id}]"
    context = Context({}, ops, op_id=op.id)
    _check_params(op, context, root, report)
    size = sum(node.size for node in op.body) + (op.result.size if op.result is not None else 0)
    if size > MAX_NODES:
        check_oversized(op.body, size, f"{root}.body", report)
        if op.result is not None and op.result.depth > MAX_EXPR_DEPTH:
            report.add("V034", *too_deep_expression(op.result.depth), f"{root}.result")
        return {}
    checker = StatementChecker(context, report)
    checker.run(op.body, f"{root}.body")
    check_op_uniformity(op, context.calls, ops, report)
    if op.result is None:
        if op.category is Category.A:
            report.add(
                "V029",
                f"the Category A op {op.id} has no result expression.",
                "give the Op a result, or make it Category C if it names a hardware instruction.",
                root,
            )
        return context.calls
    checker.expressions.enter_path(root)
    found = checker.expressions.type_of(op.result, "result")
    if found is not None and found is not op.output and op.output is not DataType.Bytes:
        report.add(
            "V030",
            f"{op.id} declares the output {op.output.value}, but its result is {found.value}: "
            "the type of a call cannot be told.",
            f"declare the output {found.value}, or {conversion_hint(found, op.output)}.",
            f"{root}.result",
        )
    return context.calls


def _check_params(op: Op, context: Context, root: str, report: Report) -> None:
    for position, param in enumerate(op.params):
        path = f"{root}.params[{position}]"
        problem = name_problem(param.name, allow_reserved=False)
        if problem:
            report.add("V032", *problem, path)
        if param.name in context.variables:
            report.add(
                "V008",
                f"{op.id} has two parameters called {param.name}.",
                "give every parameter a name of its own.",
                path,
            )
        raw = param.type is DataType.Bytes
        if raw:
            report.add(
                "V013",
                f"the parameter {param.name} of {op.id} is Bytes, which no value ever is.",
                "load the words and pass them as U32.",
                path,
            )
        context.variables[param.name] = Binding(None if raw else param.type)
    if op.output is DataType.Bytes:
        report.add(
            "V013",
            f"the output of {op.id} is Bytes, which no value ever is.",
            "give out a U32 word, or a Vec4U32 of several.",
            f"{root}.output",
        )
