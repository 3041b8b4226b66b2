"""Neighbours in a ring: an index that starts again within the loop over a workgroup, on every level.

LLVM 22 took the neighbours of a workgroup of 16 for 16 elements in a row (docs/upstream-bugs.md).
"""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.llvm import HOST, LEVELS, runs_here
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare

WORKGROUPS = 10
FORMS = (
    "(l + {step}) % 16",
    "(l + {step}) & 15",
    "((l + {step}) << 28) >> 28",
    "(l + {step}) - (l + {step}) / 16 * 16",
    "mul_hi((l + {step}) << 28, 16)",
)
RING = """vyre 1
workgroup 16 1 1
buffer data: readonly U32 @0
buffer out: readwrite U32 @1
buffer swap: readwrite U32 @2
entry {{
  let l = local.x
  let w = workgroup.z
  let g = w * 16 + l
  let s = data[g]
  if w < 4294967280 {{
    swap[g] = s
    barrier
    let next = {next}
    let last = {last}
    s := s * 668265263 + (swap[w * 16 + next] ^ swap[w * 16 + last] * 3)
  }} else {{
    s := l
  }}
  out[g] = s
}}
"""


def ring(form: str) -> vyre.Program:
    return vyre.Program.from_text(RING.format(next=form.format(step=1), last=form.format(step=15)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cpu", [HOST, *LEVELS])
def test_an_index_that_starts_again_reads_the_element_it_names(cpu: str, form: str) -> None:
    if not runs_here(cpu):
        pytest.skip(f"this processor does not run {cpu}")
    data = np.random.default_rng(1).integers(0, 1 << 32, (WORKGROUPS, 16), np.uint32)
    out, swap = np.zeros_like(data), np.zeros_like(data)
    buffers = {"data": data, "out": out, "swap": swap}
    CpuBackend(threads=1, canaries=False, cpu=cpu).compile(ring(form)).run(
        {name: array.data.cast("B") for name, array in buffers.items()}, (1, 1, WORKGROUPS)
    )
    following, before = np.roll(data, -1, 1), np.roll(data, 1, 1)
    expected = data * np.uint32(668265263) + (following ^ before * np.uint32(3))
    assert out.tolist() == expected.tolist()


def test_only_what_drops_bits_of_a_counter_is_hidden() -> None:
    """The hash of a loaded value and the stride along a row are written as they were."""
    plain = """vyre 1
workgroup 64 1 1
buffer a: readonly U32 @0
buffer out: readwrite U32 @1
entry {
  let i = invocation.x
  let x = a[i]
  out[i] = (x ^ x >> 15) % 16 + (i + 1) * 4
}
"""
    assert "%nought" not in emit(prepare(vyre.Program.from_text(plain)), backend="cpu").text
    assert "%nought" in emit(prepare(ring(FORMS[0])), backend="cpu").text
