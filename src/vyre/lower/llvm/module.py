"""A whole LLVM module: the functions of a program and the entry that walks the grid.

    void vyre_main(ptr buffers, ptr hidden, i64 first, i64 last, ptr scratch)

runs the workgroups `first` to `last` in linear order, x fastest. `buffers` holds the addresses of the bound
buffers in order, `hidden` the u32 words that `LlvmSource.hidden` names, `scratch` 64-byte aligned memory of
`scratch_bytes` for this thread alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.lower.llvm import strands
from vyre.lower.llvm.affine import Limit, Ranges
from vyre.lower.llvm.functions import called_functions
from vyre.lower.llvm.kernels import flat_function, is_flat, workgroups_function
from vyre.lower.llvm.layout import lay_out
from vyre.lower.llvm.memory import length_of
from vyre.lower.llvm.regions import Run, plan_regions
from vyre.lower.llvm.strips import strip_table
from vyre.lower.llvm.tables import tables
from vyre.lower.llvm.text import FunctionText
from vyre.lower.llvm.versions import is_worth_two
from vyre.lower.llvm.watch import WatchedGuards
from vyre.lower.native_llvm import declarations
from vyre.lower.source import Source, bound_buffers
from vyre.lower.support import check_supported
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.lower.llvm.forms import Term
    from vyre.lower.llvm.layout import MemoryLayout
    from vyre.lower.llvm.watch import Watch
    from vyre.lower.prepare import Prepared

ENTRY = "vyre_main"
GRID_WORDS = ("grid_x", "grid_y", "grid_z")
_EVERYWHERE = (1 << 62) - 1

_DECLARATIONS = {
    "@llvm.ctpop.i32": "i32 @llvm.ctpop.i32(i32)",
    "@llvm.ctlz.i32": "i32 @llvm.ctlz.i32(i32, i1)",
    "@llvm.cttz.i32": "i32 @llvm.cttz.i32(i32, i1)",
    "@llvm.bitreverse.i32": "i32 @llvm.bitreverse.i32(i32)",
    "@llvm.umin.i32": "i32 @llvm.umin.i32(i32, i32)",
    "@llvm.umax.i32": "i32 @llvm.umax.i32(i32, i32)",
    "@llvm.umin.i64": "i64 @llvm.umin.i64(i64, i64)",
    "@llvm.umax.i64": "i64 @llvm.umax.i64(i64, i64)",
    "@llvm.memset.p0.i64": "void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
}

_ATTRIBUTES = """\
attributes #0 = { nounwind noinline optnone }
attributes #1 = { nounwind noinline }
"""
"""The entry runs once a row: optimising it would cost more time than it saves."""

_APART = "attributes #2 = { noinline }\n"

_EDGE_LOOPS = """
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
!2 = !{!"llvm.loop.unroll.disable"}
"""

_LANES = "!3 = distinct !{!3, !2}\n"


@dataclass(frozen=True, slots=True)
class LlvmSource(Source):
    """A kernel as LLVM IR. The hidden words are the grid, then the lengths sized by the host."""

    scratch_bytes: int = 0


def emit(prepared: Prepared, *, backend: str = "cpu", watch: Watch | None = None) -> LlvmSource:
    """The kernel as LLVM IR for any 64-bit target; needs no LLVM to be installed.

    With a `watch`, the checks that were left out are in the code again and leave a record.
    """
    check_supported(prepared, backend)
    ranges = _ranges(prepared)
    flat = ranges.flat
    plan = plan_regions(prepared)
    layout = lay_out(prepared, plan)
    guards = WatchedGuards(prepared, watch)
    quick = strands.plan_strands(plan, ranges) if ranges.constraints and not flat else plan
    if ranges.constraints and not flat and quick is plan and not is_worth_two(ranges):
        ranges.constraints.clear()
    # The guarded version has a copy of what is rolled for each strand, and runs at the edges only.
    rolled = any(isinstance(item, Run) and item.copies > 1 for item in quick.items)
    unit = "invocations" if flat else "workgroups"
    versions = {f"{unit}_guarded": False}
    if ranges.constraints:
        versions[f"{unit}_in_range"] = True
    called: set[str] = set()
    lines = called_functions(prepared, called)
    for name, fast in versions.items():
        if flat:
            lines += flat_function(name, prepared, layout, ranges, guards, called, fast=fast)
        else:
            taken, apart = (quick, False) if fast else (plan, rolled)
            lines += workgroups_function(
                name, prepared, layout, ranges, guards, taken, called, fast=fast, apart=apart
            )
    lines += _entry(prepared, layout, ranges, unit, called)
    body = "\n".join(lines)
    used = [f"declare {text}" for name, text in _DECLARATIONS.items() if name in called]
    used += declarations(called)
    notes = [_ATTRIBUTES]
    notes += [_APART] if rolled else []
    notes += [_EDGE_LOOPS] if ranges.constraints else []
    notes += [_LANES] if quick is not plan else []
    notes += [strip_table(body)]
    notes += [watch.table()] if watch else []
    text = "\n".join([*used, *tables(prepared), "", body, "".join(notes)])
    sized = (f"len_{b.name}" for b in layout.bound if b.count == 0)
    return LlvmSource(
        "llvm",
        ENTRY,
        text,
        prepared.workgroup_size,
        bound_buffers(prepared),
        (*GRID_WORDS, *sized),
        ways=prepared.ways,
        scratch_bytes=layout.scratch_bytes,
    )


def _ranges(prepared: Prepared) -> Ranges:
    """A flat loop where the program allows it, unless wide workgroups jump through the buffers."""
    ranges = Ranges(prepared, is_flat(prepared))
    if ranges.flat and ranges.strays and ranges.width >= strands.WIDE:
        return Ranges(prepared, flat=False)
    return ranges


def _entry(
    prepared: Prepared, layout: MemoryLayout, ranges: Ranges, unit: str, called: set[str]
) -> list[str]:
    text = FunctionText(called)
    text.reserve(["buffers", "hidden", "scratch", "start", "stop", "position", "position.next"])
    _bind(text, layout)
    low, high = _fast_range(text, ranges, {}, str(_EVERYWHERE))
    text.branch(text.let("any", "icmp ult i64 %start, %stop"), "row", "done")
    text.start("row")
    text.do("%position = phi i64 [ %start, %entry ], [ %position.next, %row ]")
    row = text.let("row_number", "udiv i64 %position, %grid_x.wide")
    x = text.let("x", "urem i64 %position, %grid_x.wide")
    y = text.let("y", f"urem i64 {row}, %grid_y.wide")
    z = text.let("z", f"udiv i64 {row}, %grid_y.wide")
    text.do(f"%workgroup_y = trunc i64 {y} to i32")
    text.do(f"%workgroup_z = trunc i64 {z} to i32")
    in_row, high = _fast_range(text, ranges, {e.WorkgroupId(1): y, e.WorkgroupId(2): z}, high)
    low = max(low, in_row)
    left = text.let("left", "sub i64 %stop, %position")
    room = text.let("room", f"sub i64 %grid_x.wide, {x}")
    count = text.let("count", f"call i64 {text.intrinsic('@llvm.umin.i64')}(i64 {left}, i64 {room})")
    first, last = x, text.let("end", f"add i64 {x}, {count}")
    if unit == "invocations":
        width = prepared.workgroup_size[0]
        first = text.let("first_invocation", f"mul i64 {first}, {width}")
        last = text.let("last_invocation", f"mul i64 {last}, {width}")
    if ranges.constraints:
        begin = first
        if low:
            begin = _clamp(text, str(low), first, last)
            _call(text, layout, f"{unit}_guarded", first, begin)
        end = _clamp(text, high, begin, last)
        _call(text, layout, f"{unit}_in_range", begin, end)
        _call(text, layout, f"{unit}_guarded", end, last)
    else:
        _call(text, layout, f"{unit}_guarded", first, last)
    text.do(f"%position.next = add i64 %position, {count}")
    text.branch(text.let("more", "icmp ult i64 %position.next, %stop"), "row", "done")
    text.start("done")
    text.do("ret void")
    head = "ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch"
    return [f"define void @{ENTRY}({head}) #0 {{", *text.finish(), "}", ""]


def _bind(text: FunctionText, layout: MemoryLayout) -> None:
    """Loads the addresses and the hidden words under the names of the inner functions' parameters."""
    for number, decl in enumerate(layout.bound):
        place = text.let("p", f"getelementptr inbounds ptr, ptr %buffers, i64 {number}")
        text.let(f"b_{decl.name}", f"load ptr, ptr {place}, align 8")
    words = [*GRID_WORDS, *(f"len_{b.name}" for b in layout.bound if b.count == 0)]
    for number, word in enumerate(words):
        place = text.let("p", f"getelementptr inbounds i32, ptr %hidden, i64 {number}")
        text.let(word, f"load i32, ptr {place}, align 4")
        text.let(f"{word}.wide", f"zext i32 %{word} to i64")
    for name, offset in layout.scratch.items():
        text.let(name, f"getelementptr inbounds i8, ptr %scratch, i64 {offset}")


def _fast_range(text: FunctionText, ranges: Ranges, row: dict[Term, str], high: str) -> tuple[int, str]:
    """The positions below `high` at which the limits hold: those of the row, or those of all rows alike."""
    low = 0
    for limit in ranges.limits():
        if bool(limit.rows) != bool(row):
            continue
        if limit.step and limit.low < 0:
            low = max(low, -(limit.low // limit.step))
        end = _limit_end(text, ranges, limit, row)
        high = text.let("high", f"call i64 {text.intrinsic('@llvm.umin.i64')}(i64 {high}, i64 {end})")
    return low, high


def _limit_end(text: FunctionText, ranges: Ranges, limit: Limit, row: dict[Term, str]) -> str:
    decl = ranges.prepared.buffer(limit.buffer)
    if decl.count and not row:
        room = decl.count - limit.high
        return str(0 if room <= 0 else -(-room // limit.step) if limit.step else _EVERYWHERE)
    room = text.let("room", f"sub i64 {length_of(decl, wide=True)}, {limit.high}")
    for term, times in limit.rows:
        before = text.let("w", f"mul i64 {row[term]}, {times}")
        room = text.let("room", f"sub i64 {room}, {before}")
    count = str(_EVERYWHERE)
    if limit.step:
        padded = text.let("room", f"add i64 {room}, {limit.step - 1}")
        count = text.let("end", f"sdiv i64 {padded}, {limit.step}")
    some = text.let("c", f"icmp sgt i64 {room}, 0")
    return text.let("end", f"select i1 {some}, i64 {count}, i64 0")


def _clamp(text: FunctionText, value: str, low: str, high: str) -> str:
    raised = text.let("raised", f"call i64 {text.intrinsic('@llvm.umax.i64')}(i64 {value}, i64 {low})")
    return text.let("cut", f"call i64 {text.intrinsic('@llvm.umin.i64')}(i64 {raised}, i64 {high})")


def _call(text: FunctionText, layout: MemoryLayout, function: str, first: str, last: str) -> None:
    actual = {"first": first, "last": last}
    arguments = (f"{kind.split()[0]} {actual.get(name, f'%{name}')}" for kind, name in layout.parameters)
    text.do(f"call void @{function}({', '.join(arguments)})")
