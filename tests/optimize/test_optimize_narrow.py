"""What a narrow element can be bounds an index, in the analysis and in the checker that verifies it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from vyre.ir import Load, Program
from vyre.lower.prepare import prepare
from vyre.lower.wgsl import emit
from vyre.optimize import ranges
from vyre.optimize.bounds import proven_accesses
from vyre.optimize.ranges import Range

if TYPE_CHECKING:
    from vyre.ir import Expr

TABLE = """vyre 1
workgroup 64 1 1
buffer pick: readonly {element}[64] @0
buffer table: readonly U32[{count}] @1
buffer out: readwrite U32[64] @2
entry {{
  let k = local.x
  out[k] = table[{index}]
}}
"""


def made(element: str, count: int, index: str = "pick[k]") -> Program:
    return Program.from_text(TABLE.format(element=element, count=count, index=index))


def unproven(program: Program) -> int:
    found = proven_accesses(program.entry, program.buffers, program.workgroup_size)
    return found.total - len(found.proven)


@pytest.mark.parametrize(
    ("element", "count", "index", "guards"),
    [
        ("U8", 256, "pick[k]", 0),
        ("U8", 255, "pick[k]", 1),
        ("U8", 512, "pick[k] + 256", 0),
        ("U8", 511, "pick[k] + 256", 1),
        ("U16", 65536, "pick[k]", 0),
        ("U16", 65535, "pick[k]", 1),
        ("U32", 65536, "pick[k]", 1),
        ("I8", 256, "cast<U32>(pick[k])", 1),
        ("I16", 65536, "cast<U32>(pick[k])", 1),
    ],
)
def test_the_width_of_an_element_bounds_what_it_indexes(
    element: str, count: int, index: str, guards: int
) -> None:
    program = made(element, count, index)
    assert unproven(program) == guards
    assert emit(prepare(program)).text.count("fn load_table") == guards


def test_a_range_that_is_too_small_is_refused_by_the_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    program = made("U8", 255)
    right = ranges.Transfer.of

    def wrong(self: ranges.Transfer, expr: Expr, *rest: Any) -> Range:
        return Range(0, 254) if isinstance(expr, Load) else right(self, expr, *rest)

    monkeypatch.setattr(ranges.Transfer, "of", wrong)
    assert unproven(program) == 0, "the analysis is fooled"
    assert emit(prepare(program)).text.count("fn load_table") == 1, "the checker is not"
