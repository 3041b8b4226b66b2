"""Break, private memory and constant tables: the bytes of the reference on every backend of this machine."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import vyre
from vyre import Program
from vyre.backends import get
from vyre.errors import BackendUnavailable, StepLimitExceeded, UnsupportedByBackend
from vyre.ir.limits import MAX_CONSTANT_BYTES, MAX_PRIVATE_BYTES
from vyre.reference import run

GROUPS = 4
HEAD = """vyre 1
workgroup 16 1 1
buffer a: readonly U32[64] @0
buffer out: readwrite U32[64] @1
buffer un: uniform U32[4] @2
"""
NUMBERS = [(i * 37 + 11) % 101 for i in range(64)]
INPUTS = {
    "a": struct.pack("<64I", *NUMBERS),
    "un": struct.pack("<4I", 1, 3, 2, 3),
    "out": bytes(range(256)),
}

BREAKS = {
    "of two loops": """entry {
      let n = 0
      for i in 0..100 {
        for j in 0..100 { if j == 3 { break } n := n + 1 }
        if i == invocation.x { break }
        n := n + 1000
      }
      out[invocation.x] = n
    }""",
    "takes the values along": """entry {
      let x = 0
      for i in 0..20 { x := i * 2 if a[i] > 10 && i > local.x { break } x := 7 }
      out[invocation.x] = x
    }""",
    "in both branches": """entry {
      let s = 0
      for i in 0..20 { if i == local.x { if a[i] < 50 { s := s + 1 break } else { s := s + 2 break } } }
      out[invocation.x] = s
    }""",
    "in the first turn": "entry { for i in 0..9 { out[invocation.x] = i + 5 break out[invocation.x] = 1 } }",
    "behind a return": """entry {
      for i in 0..9 { if a[i] == local.x { return } if i == un[1] { break } out[invocation.x] = i }
      out[invocation.x] = 99
    }""",
    "of the whole workgroup": """buffer t: workgroup U32[16]
    entry {
      let s = 0
      for k in 0..8 {
        t[local.x] = k + s
        barrier
        if un[0] + k == 5 { s := s + 100 break }
        s := s + t[(local.x + 1) & 15]
        barrier
      }
      out[invocation.x] = s
    }""",
    "behind a barrier in a branch": """buffer t: workgroup U32[16]
    entry {
      let s = 0
      for k in 0..8 {
        if un[1] == k { if un[2] == 2 { t[local.x] = s barrier s := t[0] break } else { s := 1 } }
        barrier
        s := s + 1
      }
      out[invocation.x] = s
    }""",
}

DEEP = (
    "entry { let s = 0 for i in 0..9 { "
    + "if a[i] > 3 { " * 50
    + "s := s + i if i == local.x { break } s := s + 1"
    + " }" * 51
    + " out[invocation.x] = s }"
)

MEMORY = {
    "private memory of every shape": """buffer p: private U32[8]
    buffer q: private Vec4U32[3]
    buffer h: private F16[5]
    buffer b: private Bool[3]
    entry {
      let i0 = invocation.x
      for i in 0..12 { p[i] = p[i & 3] + a[i] * i0 }
      q[i0 % 4] = make<Vec4U32>(i0, 1, 2, 3)
      b[i0 & 3] = true
      h[i0 % 7] = f16(0x7E01)
      let seen = p[i0 & 7] + p[7] + p[i0] + q[1].0 + q[2].1 * 100 + len(p) + cast<U32>(h[3])
      out[i0] = seen + select(b[1], 1000000, 0)
    }""",
    "private memory across barriers": """buffer p: private U32[8]
    buffer t: workgroup U32[16]
    entry {
      let i0 = invocation.x
      p[i0 & 7] = i0 + 1
      t[local.x] = i0
      barrier
      for k in 0..4 {
        if un[k] == 2 { break }
        p[(i0 + k) & 7] = p[i0 & 7] + t[(local.x + k) & 15]
        barrier
        t[local.x] = p[k] + k
        barrier
      }
      out[i0] = p[0] + p[1] * 2 + p[2] * 3 + p[7] * 5 + t[15 - local.x]
    }""",
    "as much private memory as there may be": f"""buffer p: private U32[{MAX_PRIVATE_BYTES // 4}]
    buffer t: workgroup U32[16]
    entry {{
      for k in 0..len(p) {{ p[k * 7 % len(p)] = p[k] + k + invocation.x }}
      t[local.x] = p[5]
      barrier
      out[invocation.x] = p[a[invocation.x]] + p[len(p) - 1] + t[0]
    }}""",
    "tables of every shape": """buffer k: constant U32 { 7, 0xFFFFFFFF, 9, 11, 13 }
    buffer w: constant U64 { 0x100000002, 3 }
    buffer h: constant F16 { 0x3c00, 0x4000, 0x7e01 }
    buffer b: constant Bool { 0, 5, 1 }
    buffer d: constant F64 { 0x7FF8000000000001 }
    buffer v: constant U128 { 5, 0x00000001000000020000000300000004 }
    entry {
      let i = invocation.x
      let x = k[i % 7] + w[i & 1].1 * 16 + w[i & 1].0 + w[3].0 + cast<U32>(h[i & 3]) * 3 + k[2]
      out[i] = x + select(b[i & 3], 100, 0) + v[i & 1].3 + v[1].2 + len(d)
    }""",
    "as large a table as there may be": "buffer k: constant U32 { "
    + ", ".join(str(i * 2654435761 % (1 << 32)) for i in range(MAX_CONSTANT_BYTES // 4))
    + " } entry { out[invocation.x] = k[invocation.x * 1021 % len(k)] + k[a[invocation.x] * 200] }",
}
PROGRAMS = {**BREAKS, "under fifty conditions": DEEP, **MEMORY}


@pytest.fixture(scope="module", params=["cpu", "opencl", "wgpu", "dawn"])
def backend(request: pytest.FixtureRequest) -> str:
    try:
        get(request.param)
    except BackendUnavailable as reason:
        pytest.skip(str(reason))
    return request.param


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bytes_are_those_of_the_reference(backend: str, name: str) -> None:
    program = Program.from_text(HEAD + PROGRAMS[name])
    expected = run(program, INPUTS, (GROUPS, 1, 1)).buffers["out"]
    arrays = {key: np.frombuffer(data, np.uint32).copy() for key, data in INPUTS.items()}
    found = vyre.dispatch(program, arrays, backend=backend, workgroups=GROUPS)["out"]
    assert found.tobytes() == expected


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_turns_behind_a_break_are_not_taken(backend: str) -> None:
    text = (
        "vyre 1 workgroup 4 buffer out: readwrite U32[4] @0 entry { for k in 0..4294967295 { for j in 0..9 "
    )
    text += "{ if j == 2 { break } } if k == 4 { break } out[local.x] = k } }"
    program, out = Program.from_text(text), np.zeros(4, np.uint32)
    found = vyre.dispatch(program, {"out": out}, backend=backend, workgroups=1, step_limit=20)
    assert found["out"].tolist() == [3] * 4
    with pytest.raises(StepLimitExceeded):
        vyre.dispatch(program, {"out": out}, backend=backend, workgroups=1, step_limit=19)


def test_private_memory_that_would_not_fit_a_stack_is_refused() -> None:
    """PoCL has all of a workgroup on the stack of one thread, and 8 MiB there end the process."""
    try:
        device = get("opencl")
    except BackendUnavailable as reason:
        pytest.skip(str(reason))
    if "pocl" not in str(device.describe()).lower():
        pytest.skip("not a device that runs workgroups on threads of the CPU")
    text = "vyre 1 workgroup {} buffer out: readwrite U32[1024] @0 buffer p: private U32[2048] entry {{ "
    text += "for k in 0..2048 {{ p[k * 7 % 2048] = p[k] + k + 1 }} out[invocation.x] = p[local.x] }}"
    with pytest.raises(UnsupportedByBackend, match="bytes of private memory in a workgroup"):
        device.compile(Program.from_text(text.format(1024)))
    device.compile(Program.from_text(text.format(256)))


def test_a_loop_that_ends_early_is_not_turned_inside_out() -> None:
    """On cpu a loop over elements a workgroup's width apart becomes the workgroup's, unless it breaks."""
    program = Program.from_text(
        "vyre 1 workgroup 64 buffer a: readonly U32 @0 buffer out: readwrite U32 @1 entry { for k in 0..4 { "
        "let i = workgroup.x * 256 + k * 64 + local.x if a[i] == 0 { break } out[i] = a[i] + 1 } }"
    )
    values = np.arange(2048, dtype=np.uint32) * np.uint32(7) % np.uint32(5)
    inputs = {"a": values.tobytes(), "out": bytes(values.nbytes)}
    expected = run(program, inputs, (8, 1, 1)).buffers["out"]
    arrays = {"a": values, "out": np.zeros_like(values)}
    found = vyre.dispatch(program, arrays, backend="cpu", workgroups=8)["out"]
    assert found.tobytes() == expected
