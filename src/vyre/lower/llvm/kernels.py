"""The functions that run a range of one row of the grid: invocations in a flat loop, or workgroups.

A program without barriers and workgroup memory, in workgroups along x only, is one loop over invocations,
as long as the row: LLVM vectorises it like a loop over an array. Everything else is a loop over workgroups,
each a sequence of regions (`regions.py`), and so is a program whose invocations take several elements a
workgroup's width apart: there the workgroup is what walks through an array (`strands.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import expressions
from vyre.lower.llvm.affine import stands_alone
from vyre.lower.llvm.layout import own_bytes, registers
from vyre.lower.llvm.memory import Ids, length_of
from vyre.lower.llvm.own import own_memory
from vyre.lower.llvm.regions import Choice, Item, Once, RegionPlan, Repeat, Run
from vyre.lower.llvm.statements import StatementEmitter
from vyre.lower.llvm.text import FunctionText
from vyre.lower.llvm.values import Arrays, Derived

if TYPE_CHECKING:
    from vyre.lower.llvm.affine import Ranges
    from vyre.lower.llvm.layout import MemoryLayout
    from vyre.lower.llvm.watch import WatchedGuards
    from vyre.lower.prepare import Prepared

_AXES = "xyz"


def is_flat(prepared: Prepared) -> bool:
    """Whether invocations need nothing of their workgroup but its number."""
    return prepared.workgroup_size[1:] == (1, 1) and stands_alone(prepared)


def flat_function(
    name: str,
    prepared: Prepared,
    layout: MemoryLayout,
    ranges: Ranges,
    guards: WatchedGuards,
    called: set[str],
    *,
    fast: bool,
) -> list[str]:
    """Runs the invocations `%first` to `%last` of a row."""
    text = FunctionText(called)
    emitter = _start(text, prepared, layout, ranges, guards, fast=fast)
    head, following, done = text.unique("invocation"), text.unique("following"), text.unique("done")
    text.branch(text.let("any", "icmp ult i64 %first, %last"), head, done)
    text.start(head)
    text.do("%id = phi i64 [ %first, %entry ], [ %id.next, %following ]")
    emitter.ids = _flat_ids(text, prepared)
    emitter.leave = following
    own_memory(emitter)
    if emitter.block(prepared.entry):
        text.jump(following)
    text.start(following)
    text.do("%id.next = add nuw i64 %id, 1")
    text.branch(text.let("more", "icmp ult i64 %id.next, %last"), head, done, note=_loop_note(ranges, fast))
    text.start(done)
    text.do("ret void")
    return _function(name, layout, text)


def _flat_ids(text: FunctionText, prepared: Prepared) -> Ids:
    """In a row the invocation id along x is the loop counter; the others follow from it."""
    used, width = _used_ids(prepared), prepared.workgroup_size[0]
    names: dict[e.Expr, str] = {e.LocalId(1): "0", e.LocalId(2): "0"}
    for axis, name in ((1, "%workgroup_y"), (2, "%workgroup_z")):
        names[e.WorkgroupId(axis)] = names[e.InvocationId(axis)] = name
    wide: dict[e.Expr, str] = {}
    ids = (e.InvocationId(0), e.WorkgroupId(0), e.LocalId(0))
    if used.intersection(ids):
        names[ids[0]] = text.let("invocation_x", "trunc i64 %id to i32")
    for kind, hint, instruction in ((ids[1], "workgroup_x", "udiv"), (ids[2], "local_x", "urem")):
        if kind in used:
            counter = names[ids[0]] if width.bit_count() > 1 else text.hidden(names[ids[0]])
            names[kind] = text.let(hint, f"{instruction} i32 {counter}, {width}")
            wide[kind] = text.let("w", f"zext i32 {names[kind]} to i64")
    return Ids(names, "%id", wide.get(ids[1]), wide.get(ids[2]))


def workgroups_function(
    name: str,
    prepared: Prepared,
    layout: MemoryLayout,
    ranges: Ranges,
    guards: WatchedGuards,
    plan: RegionPlan,
    called: set[str],
    *,
    fast: bool,
    apart: bool = False,
) -> list[str]:
    """Runs the workgroups `%first` to `%last` of a row; `apart` keeps the functions it calls out of it."""
    text = FunctionText(called)
    emitter = _start(text, prepared, layout, ranges, guards, fast=fast)
    emitter.apart = apart
    writer = _Workgroup(prepared, layout, plan, emitter)
    head, following, done = text.unique("workgroup"), text.unique("following"), text.unique("done")
    text.branch(text.let("any", "icmp ult i64 %first, %last"), head, done)
    text.start(head)
    text.do("%group = phi i64 [ %first, %entry ], [ %group.next, %following ]")
    writer.begin(following)
    writer.items(plan.items)
    text.jump(following)
    text.start(following)
    text.do("%group.next = add nuw i64 %group, 1")
    text.branch(text.let("more", "icmp ult i64 %group.next, %last"), head, done)
    text.start(done)
    text.do("ret void")
    return _function(name, layout, text)


class _Workgroup:
    """One workgroup: its memory, its regions, and the control flow around them."""

    def __init__(
        self, prepared: Prepared, layout: MemoryLayout, plan: RegionPlan, emitter: StatementEmitter
    ) -> None:
        self.prepared = prepared
        self.layout = layout
        self.plan = plan
        self.emitter = emitter
        self.text = emitter.text
        self.used = _used_ids(prepared)
        self.outer = Ids({})
        self.done = ""
        for variable in plan.crossing:
            kinds = registers(prepared, prepared.variables[variable])
            bases = tuple(f"%c_{variable}.{k}" for k in range(len(kinds)))
            emitter.places[variable] = Arrays(bases, kinds)
        for variable, value in plan.derived.items():
            emitter.places[variable] = Derived(value)
        if plan.mortal:
            self._dead = self.text.slot("dead")
        self._ends: list[str] = []

    def begin(self, following: str) -> None:
        """Ids of the workgroup and its zeroed memory."""
        text, names = self.text, dict[e.Expr, str]()
        names[e.WorkgroupId(0)] = text.let("workgroup_x", "trunc i64 %group to i32")
        names |= {e.WorkgroupId(1): "%workgroup_y", e.WorkgroupId(2): "%workgroup_z"}
        self.outer = Ids(names)
        self.done = following
        for decl in self.prepared.buffers:
            if decl.access.shared:
                self._fill(f"%b_{decl.name}", decl.count * decl.element.stride)
            elif f"b_{decl.name}" in self.layout.scratch:
                self._fill(f"%b_{decl.name}", self.layout.invocations * own_bytes(decl))
        if self.plan.mortal:
            self._fill("%c_returned", 4 * self.layout.invocations)
            text.do(f"store i32 0, ptr {self._dead}, align 4")
        self.emitter.ids = self.outer

    def _fill(self, base: str, size: int) -> None:
        memset = self.text.intrinsic("@llvm.memset.p0.i64")
        self.text.do(f"call void {memset}(ptr align 4 {base}, i8 0, i64 {size}, i1 false)")

    def items(self, items: tuple[Item, ...]) -> None:
        for item in items:
            self.emitter.forget()
            # What is done once for the workgroup may have moved before the condition that proves it safe.
            self.emitter.node = None
            match item:
                case Run():
                    self._run(item)
                case Once(node=n.Let() as node):
                    self.emitter.bind(node)
                case Once(node=n.Assign() as node):
                    self.emitter.assign(node)
                case Choice():
                    self._choice(item)
                case Repeat():
                    self._repeat(item)
                case _:
                    raise AssertionError(item)

    def _choice(self, item: Choice) -> None:
        text = self.text
        then, orelse, after = text.unique("then"), text.unique("else"), text.unique("endif")
        text.branch(self.emitter.condition(item.condition), then, orelse)
        for label, body in ((then, item.then), (orelse, item.orelse)):
            text.start(label)
            self.items(body)
            text.jump(after)
        text.start(after)

    def _repeat(self, item: Repeat) -> None:
        emitter = self.emitter
        loop = emitter.begin_loop(item.var, emitter.scalar(item.start), emitter.scalar(item.stop))
        self._ends.append(loop.after)
        self.items(item.body)
        self._ends.pop()
        self.text.jump(loop.latch)
        emitter.end_loop(loop)

    def _run(self, run: Run) -> None:
        """The loops over the invocations of the workgroup, x innermost."""
        text, emitter = self.text, self.emitter
        end = text.unique("endregion")
        left = ""
        if run.breaks:
            left = text.slot("left")
            text.do(f"store i32 0, ptr {left}, align 4")
        sizes = {axis: str(size) for axis, size in enumerate(self.prepared.workgroup_size)}
        sizes[0] = str(self.prepared.workgroup_size[0] * run.copies)
        if run.below is not None:
            some = text.unique("region")
            below = text.let("w", f"zext i32 {emitter.scalar(run.below)} to i64")
            sizes[0] = text.let(
                "w", f"call i64 {text.intrinsic('@llvm.umin.i64')}(i64 {below}, i64 {sizes[0]})"
            )
            text.branch(text.let("c", f"icmp ne i64 {sizes[0]}, 0"), some, end)
            text.start(some)
        opened: list[tuple[str, str, str, str]] = []
        counters = {1: "0", 2: "0"}
        for axis in (2, 1, 0):
            if self.prepared.workgroup_size[axis] == 1 and axis:
                continue
            head, latch = text.unique(f"local_{_AXES[axis]}"), text.unique("latch")
            counters[axis] = counter = f"%{text.unique(f'at_{_AXES[axis]}')}"
            before = text.block
            text.jump(head)
            text.start(head)
            text.do(f"{counter} = phi i64 [ 0, %{before} ], [ {counter}.next, %{latch} ]")
            opened.append((head, latch, counter, sizes[axis]))
        emitter.ids = self._ids(counters)
        emitter.forget()
        self._body(run, opened[-1][1], left)
        for level, (head, latch, counter, size) in reversed(list(enumerate(opened))):
            text.start(latch)
            text.do(f"{counter}.next = add nuw i64 {counter}, 1")
            after = opened[level - 1][1] if level else end
            note = _loop_note(emitter.ranges, emitter.fast)
            if run.lanes and counter == counters[0]:
                note = ", !llvm.loop !3"
            text.branch(text.let("more", f"icmp ult i64 {counter}.next, {size}"), head, after, note=note)
        text.start(end)
        emitter.ids = self.outer
        emitter.forget()
        if self.plan.mortal and run.returns:
            self._stop_when_all_returned()
        if left:
            stay = text.unique("stay")
            gone = text.let("c", f"icmp ne i32 {text.let('t', f'load i32, ptr {left}, align 4')}, 0")
            text.branch(gone, self._ends[-1], stay)
            text.start(stay)

    def _body(self, run: Run, latch: str, left: str) -> None:
        """One invocation; where it breaks, it says so in `left`, and so do all that are alive (V010)."""
        text, emitter = self.text, self.emitter
        emitter.leave = latch
        if left:
            emitter.breaks.append(text.unique("break"))
        own_memory(emitter, self.layout)
        if self.plan.mortal:
            mark = text.let("p", f"getelementptr inbounds i32, ptr %c_returned, i64 {emitter.ids.linear}")
            gone = text.let("c", f"icmp ne i32 {text.let('t', f'load i32, ptr {mark}, align 4')}, 0")
            alive = text.unique("alive")
            text.branch(gone, latch, alive)
            text.start(alive)
            if run.returns:
                emitter.leave = text.unique("returned")
        if emitter.block(run.body):
            text.jump(latch)
        if left:
            text.start(emitter.breaks.pop())
            text.do(f"store i32 1, ptr {left}, align 4")
            text.jump(latch)
        if emitter.leave != latch:
            text.start(emitter.leave)
            mark = text.let("p", f"getelementptr inbounds i32, ptr %c_returned, i64 {emitter.ids.linear}")
            text.do(f"store i32 1, ptr {mark}, align 4")
            dead = text.let("t", f"load i32, ptr {self._dead}, align 4")
            text.do(f"store i32 {text.let('t', f'add i32 {dead}, 1')}, ptr {self._dead}, align 4")
            text.jump(latch)

    def _stop_when_all_returned(self) -> None:
        text = self.text
        dead = text.let("t", f"load i32, ptr {self._dead}, align 4")
        some = text.unique("some_alive")
        text.branch(text.let("c", f"icmp eq i32 {dead}, {self.layout.invocations}"), self.done, some)
        text.start(some)

    def _ids(self, counters: dict[int, str]) -> Ids:
        text = self.text
        names = dict(self.outer.names)
        for axis, letter in enumerate(_AXES):
            local, invocation = e.LocalId(axis), e.InvocationId(axis)
            counter, size = counters[axis], self.prepared.workgroup_size[axis]
            names[local], names[invocation] = "0", names[e.WorkgroupId(axis)]
            if size > 1 and self.used & {local, invocation}:
                names[local] = text.let(f"local_{letter}", f"trunc i64 {counter} to i32")
            if size > 1 and invocation in self.used:
                first = text.let("t", f"mul i32 {names[e.WorkgroupId(axis)]}, {size}")
                names[invocation] = text.let(f"invocation_{letter}", f"add i32 {first}, {names[local]}")
        first = text.let("w", f"mul i64 %group, {self.prepared.workgroup_size[0]}")
        wide = text.let("id", f"add i64 {first}, {counters[0]}")
        return Ids(names, wide, "%group", counters[0], self._linear(counters))

    def _linear(self, counters: dict[int, str]) -> str:
        x, y, _ = self.prepared.workgroup_size
        total = counters[0]
        for axis, stride in ((1, x), (2, x * y)):
            if counters[axis] != "0":
                part = self.text.let("w", f"mul i64 {counters[axis]}, {stride}")
                total = self.text.let("w", f"add i64 {total}, {part}")
        return total


def _start(
    text: FunctionText,
    prepared: Prepared,
    layout: MemoryLayout,
    ranges: Ranges,
    guards: WatchedGuards,
    *,
    fast: bool,
) -> StatementEmitter:
    text.reserve([name for _, name in layout.parameters])
    text.reserve(["id", "id.next", "group", "group.next"])
    for decl in layout.bound:
        if decl.count == 0:
            text.let(f"len_{decl.name}.wide", f"zext i32 {length_of(decl)} to i64")
    return StatementEmitter(prepared, text, ranges, fast=fast, guards=guards)


def _function(name: str, layout: MemoryLayout, text: FunctionText) -> list[str]:
    parameters = ", ".join(f"{kind} %{parameter}" for kind, parameter in layout.parameters)
    return [f"define internal void @{name}({parameters}) #1 {{", *text.finish(), "}", ""]


def _loop_note(ranges: Ranges, fast: bool) -> str:
    """Where a fast version exists, the guarded one runs at the edges only: compile it quickly."""
    return ", !llvm.loop !0" if ranges.constraints and not fast else ""


def _used_ids(prepared: Prepared) -> set[e.Expr]:
    kinds = (e.InvocationId, e.WorkgroupId, e.LocalId)
    return {x for x in expressions(prepared.entry) if isinstance(x, kinds)}
