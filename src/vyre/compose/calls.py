"""Whether calls can vanish: the op is known, has a composition, ends somewhere, and gets its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.compose.scan import defined_name, distinct_nodes, scan
from vyre.compose.template import Measure
from vyre.errors import Diagnostic, ValidationError, counted
from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.limits import MAX_CALL_DEPTH, MAX_EXPANSION, MAX_NODES
from vyre.ir.op import Category
from vyre.ir.walk import postorder, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vyre.compose.scan import Scanned
    from vyre.compose.template import Template
    from vyre.ir.op import Op
    from vyre.ir.program import Program

_BUFFER_NODES = (e.Load, e.BufLen, e.Atomic, e.FReduce, e.FReduceApprox)
_PLACE_NODES = (e.InvocationId, e.WorkgroupId, e.LocalId)


class Fault(NamedTuple):
    """Why a call cannot be inlined: a V-code, what is wrong, what to do."""

    code: str
    message: str
    fix: str


class Resolver:
    """Follows calls through op bodies; `callees_first` collects ops found sound and not yet `known`."""

    def __init__(self, look_up: Callable[[str], Op | None], known: Mapping[str, Template]) -> None:
        self._look_up = look_up
        self._known = known
        self._measures: dict[str, Measure] = {}
        self._faults: dict[str, Fault] = {}
        self.callees_first: list[Op] = []
        self.scans: dict[str, Scanned] = {}

    def fault(self, call: e.Call) -> Fault | None:
        """What keeps this call from being inlined, or None."""
        direct = self._direct_fault(call)
        if direct is not None:
            return direct
        self._follow(call.op_id)
        return self._faults.get(call.op_id)

    def measure(self, op_id: str) -> Measure:
        """The measure of an op that was found sound."""
        known = self._known.get(op_id)
        return known.measure if known is not None else self._measures[op_id]

    def expansion(self, calls: Mapping[e.Call, int]) -> int:
        """Nodes that sound calls expand to."""
        return sum(times * self.measure(call.op_id).size for call, times in calls.items())

    def _direct_fault(self, call: e.Call) -> Fault | None:
        op_id = call.op_id
        op = self._look_up(op_id)
        if op is None:
            message = f"no op is registered as {op_id!r}."
            return Fault("V016", message, f"register an Op with id {op_id} before lowering.")
        if len(call.args) != len(op.params):
            wanted = counted(len(op.params), "argument")
            message = f"{op_id} takes {wanted}, and the call passes {len(call.args)}."
            return Fault("V027", message, f"pass {wanted} to {op_id}.")
        return None

    def _follow(self, root: str) -> None:
        """Depth first without recursion; `open_ops` is the chain of ops being followed."""
        open_ops: dict[str, Iterator[e.Call]] = {}
        self._enter(root, open_ops)
        while open_ops:
            op_id, calls = next(reversed(open_ops.items()))
            call = next(calls, None)
            if call is None:
                del open_ops[op_id]
                self._leave(op_id)
                continue
            fault = self._direct_fault(call)
            if fault is None and call.op_id in open_ops:
                chain = [*list(open_ops)[list(open_ops).index(call.op_id) :], call.op_id]
                message = f"ops call each other in a circle: {_chain(chain)}."
                fault = Fault("V017", message, "express the repetition as a bounded Loop inside one op.")
            if fault is not None:
                self._faults.setdefault(op_id, fault._replace(message=f"inside {op_id}: {fault.message}"))
            elif call.op_id in self._faults:
                self._faults.setdefault(op_id, self._faults[call.op_id])
            else:
                self._enter(call.op_id, open_ops)

    def _enter(self, op_id: str, open_ops: dict[str, Iterator[e.Call]]) -> None:
        op = self._look_up(op_id)
        if op is None or op_id in self._known or op_id in self._measures or op_id in self._faults:
            return
        fault = op_fault(op)
        if fault is not None:
            self._faults[op_id] = fault
            return
        self.scans[op_id] = scan(op.body, op.result)
        open_ops[op_id] = iter(self.scans[op_id].calls)

    def _leave(self, op_id: str) -> None:
        op = self._look_up(op_id)
        calls = self.scans[op_id].calls
        inherited = next((self._faults[c.op_id] for c in calls if c.op_id in self._faults), None)
        if inherited is not None:
            self._faults.setdefault(op_id, inherited)
        if op is None or op_id in self._faults:
            return
        levels = 1 + max((self.measure(call.op_id).levels for call in calls), default=0)
        size = _own_size(op) + self.expansion(calls)
        if levels > MAX_CALL_DEPTH:
            message = f"the calls below {op_id} are {levels} levels deep, and {MAX_CALL_DEPTH} are allowed."
            self._faults[op_id] = Fault("V017", message, "merge some of the ops along the chain.")
        elif size > MAX_EXPANSION:
            self._faults[op_id] = too_large(op_id)
        else:
            self._measures[op_id] = Measure(levels, size)
            self.callees_first.append(op)


def too_large(owner: str) -> Fault:
    message = f"the calls of {owner} expand to more than {MAX_EXPANSION} nodes."
    fix = "bind a result that is needed twice with Let instead of calling twice, or use a Loop."
    return Fault("V043", message, fix)


def _own_size(op: Op) -> int:
    return sum(node.size for node in op.body) + (op.result.size if op.result is not None else 0)


def op_fault(op: Op) -> Fault | None:
    """Why the op's own definition cannot be inlined anywhere, or None."""
    if op.hardware:
        return None  # the call stays, for the backend to emit or to refuse
    if op.result is None and op.category is Category.A:
        message = f"{op.id} has no result expression, and a call stands for a value."
        return Fault("V029", message, f"give the Op {op.id} a result.")
    if op.result is None:
        return Fault(
            "V020",
            f"{op.id} is a hardware instruction (Category C) without a body to inline.",
            "call a Category A op, or use the expression node that stands for the instruction.",
        )
    if _own_size(op) > MAX_NODES:
        return Fault("V019", f"{op.id} has more than {MAX_NODES} nodes.", "split the op into smaller ones.")
    nodes = list(distinct_nodes(op.body))
    bound = {p.name for p in op.params} | {defined_name(node) for node in nodes}
    for node in nodes:
        if isinstance(node, (n.Store, n.Return, n.Barrier)):
            what = type(node).__name__
            message = f"{op.id} contains {what}, which belongs to a program, not to a value op."
            return Fault("V038", message, f"move the {what} into the program that calls the op.")
        if isinstance(node, n.Assign) and node.name not in bound:
            return _free_variable(op, node.name)
    for root in [*(x for node in nodes for x in node.exprs), op.result]:
        for expr in postorder(root):
            if isinstance(expr, (*_BUFFER_NODES, *_PLACE_NODES)):
                what = getattr(expr, "buffer", None) or "invocation ids"
                message = f"{op.id} reads {what}, and an op sees only its arguments."
                fix = "expose the required value as an argument or compose at Program level."
                return Fault("V031", message, fix)
            if isinstance(expr, e.Var) and expr.name not in bound:
                return _free_variable(op, expr.name)
    return None


def _free_variable(op: Op, name: str) -> Fault:
    message = f"{op.id} uses {name}, which it neither takes nor defines."
    return Fault("V006", message, f"add {name} to the parameters of {op.id}, or define it with Let.")


def _chain(ids: list[str]) -> str:
    if len(ids) > MAX_CALL_DEPTH:
        ids = [*ids[: MAX_CALL_DEPTH // 2], "…", ids[-1]]
    return " calls ".join(ids)


def raise_faults(program: Program, faults: dict[e.Call, Fault]) -> None:
    """Raises every fault at each statement that holds its call; does nothing without faults."""
    if not faults:
        return
    diagnostics: list[Diagnostic] = []
    for path, node in statements(program.entry):
        for name, root in _named_exprs(node):
            for expr in postorder(root):
                if isinstance(expr, e.Call) and expr in faults:
                    location = program.locations.get(path)
                    diagnostics.append(Diagnostic(*faults[expr], f"{path}.{name}", location))
    raise ValidationError(diagnostics)


def _named_exprs(node: n.Node) -> list[tuple[str, e.Expr]]:
    names: tuple[str, ...] = type(node).__match_args__  # pyright: ignore[reportAttributeAccessIssue]
    return [(name, value) for name in names if isinstance(value := getattr(node, name), e.Expr)]
