"""Kernels that run: the language of a kernel, from one line to barriers and atomics."""

import math
import runpy
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

import vyre
from vyre import (
    In,
    InOut,
    Out,
    Shared,
    Uniform,
    ValidationError,
    boolean,
    f16,
    f32,
    i32,
    packed_bytes,
    u32,
    u64,
)

README = """\
import numpy as np
import vyre
from vyre import In, Out, u32

@vyre.kernel
def hamming(a: In[u32], b: In[u32], out: Out[u32]):
    i = vyre.invocation_id(0)
    out[i] = vyre.popcount(a[i] ^ b[i])

print(hamming(np.array([1, 2, 3], np.uint32), np.array([3, 2, 0], np.uint32)))
"""


def u32s(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def i32s(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def f32s(*values: float) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def test_the_first_example_runs_as_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "example.py"
    path.write_text(README)
    runpy.run_path(str(path))
    assert capsys.readouterr().out == "[1 0 2]\n"


def test_the_example_also_runs_under_future_annotations(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text("from __future__ import annotations\n" + README)
    kernel = runpy.run_path(str(path))["hamming"]
    assert kernel(u32s(7), u32s(0)).tolist() == [3]


@vyre.kernel
def saxpy(x: In[f32], y: In[f32], out: Out[f32], a: f32) -> None:
    i = vyre.invocation_id(0)
    out[i] = vyre.fma(a, x[i], y[i])


def test_floats_and_a_float_scalar() -> None:
    assert saxpy(f32s(1, 2, 3), f32s(10, 20, 30), a=0.5).tolist() == [10.5, 21.0, 31.5]
    assert saxpy(f32s(1), f32s(2), a=np.float32(2)).tolist() == [4.0]


@vyre.kernel
def everything(x: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    v = x[i]
    total = 0.0
    if v >= 2:
        total = vyre.sqrt(v) / 2 - 1.5
    elif v < 0.0 and not vyre.isinf(v):
        total = abs(-v) ** 2.0
    else:
        total = max(v, 0.25) * vyre.floor(v + 1.75 - v)
    out[i] = total


def test_float_arithmetic_and_branches() -> None:
    assert everything(f32s(16, -3, 0, 1), backend="reference").tolist() == [0.5, 9.0, 0.25, 1.0]


@vyre.kernel(workgroup_size=8)
def block_sums(x: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 8)
    i = vyre.invocation_id(0)
    j = vyre.local_id(0)
    tile[j] = x[i]
    vyre.barrier()
    for step in range(3):
        half = u32(4) >> step
        if j < half:
            tile[j] += tile[j + half]
        vyre.barrier()
    if j == 0:
        out[vyre.workgroup_id(0)] = tile[0]


def test_workgroup_reduction_with_barriers() -> None:
    x = np.arange(20, dtype=np.uint32)
    result = block_sums(x, out=3, workgroups=3)
    assert result.tolist() == [sum(range(8)), sum(range(8, 16)), sum(range(16, 20))]


@vyre.kernel(workgroup_size=4)
def shared_parameter(x: In[u32], out: Out[u32], tile: Shared[u32, Literal[4]]) -> None:
    i = vyre.local_id(0)
    tile[3 - i] = x[i]
    vyre.barrier()
    out[i] = tile[i]


def test_workgroup_memory_as_a_parameter_is_no_argument() -> None:
    assert shared_parameter(u32s(1, 2, 3, 4)).tolist() == [4, 3, 2, 1]


@vyre.kernel(workgroup_size=16)
def histogram(x: In[u32], out: Out[u32, Literal[4]]) -> None:
    local = vyre.shared(u32, 4, atomic=True)
    i = vyre.invocation_id(0)
    j = vyre.local_id(0)
    if i < len(x):
        vyre.atomic_add(local, x[i] & 3, 1)
    vyre.barrier()
    if j < 4:
        vyre.atomic_add(out, j, local[j])


def test_histogram_with_atomics() -> None:
    x = np.random.default_rng(1).integers(0, 1000, 50, dtype=np.uint32)
    expected = np.bincount(x & 3, minlength=4)
    assert histogram(x, workgroups=4).tolist() == expected.tolist()


SIZE = 3
SCALE = 2.5
NEGATE = True


@vyre.kernel
def constants(x: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    total = 0.0
    for _ in range(SIZE * 2 - 1):
        total += x[i] * (SCALE + math.pi - math.pi)
    out[i] = -total if NEGATE else total


def test_module_numbers_are_constants() -> None:
    assert constants(f32s(2)).tolist() == [-25.0]


def test_closure_numbers_are_constants() -> None:
    offset = 40

    @vyre.kernel
    def add(x: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = x[i] + offset

    assert add(u32s(2)).tolist() == [42]


@vyre.kernel
def signed(a: In[i32], b: In[i32], out: Out[i32]) -> None:
    x = a[0]
    y = b[0]
    out[0] = x // y
    out[1] = x % y
    out[2] = x >> 1
    out[3] = x << 1
    out[4] = i32(x < y)
    out[5] = max(x, y) + min(x, y)
    out[6] = abs(x)
    out[7] = -x * 2 + ~y
    out[8] = i32(-8 <= x <= -6)
    out[9] = i32(x >= y) - i32(x > 0)


def test_signed_operators_are_the_library_and_round_toward_zero() -> None:
    result = signed(i32s(-7), i32s(2), out=10, workgroups=1)
    assert result.tolist() == [-3, -1, -4, -14, 1, -5, 7, 11, 1, 0]


@vyre.kernel
def wide(a: In[u64], b: In[u64], out: Out[u64], less: Out[boolean]) -> None:
    i = vyre.invocation_id(0)
    out[i] = (a[i] + b[i]) * 3 ^ (a[i] << 4)
    less[i] = a[i] < b[i]


def test_wide_integers_use_the_library() -> None:
    a, b = np.array([2**40 + 1], np.uint64), np.array([2**50], np.uint64)
    out, less = wide(a, b)
    assert out.tolist() == [((2**40 + 1 + 2**50) * 3) ^ ((2**40 + 1) << 4)]
    assert less.tolist() == [True]
    assert less.dtype == np.bool_


@vyre.kernel
def steps(out: Out[u32], start: u32, stop: u32) -> None:
    for i in range(start, stop, 3):
        out[i] = 1
    count = 0
    for i in range(0, 10, 4):
        count += i
    out[len(out) - 1] = count


@pytest.mark.parametrize(("start", "stop"), [(0, 7), (1, 8), (5, 5), (6, 2), (4294967290, 4294967295)])
def test_constant_steps_never_overrun(start: int, stop: int) -> None:
    expected = [int(i in range(start, stop, 3)) for i in range(11)] + [12]
    assert steps(12, start, stop, workgroups=1).tolist() == expected


@vyre.kernel
def augmented(x: InOut[u32], k: Uniform[u32]) -> None:
    i = vyre.invocation_id(0)
    x[i] += k[0]
    x[i] <<= 1
    n = x[i]
    n -= 1
    x[i] = n


def test_augmented_assignment() -> None:
    x = u32s(1, 2)
    assert augmented(x, u32s(10), copy=True).tolist() == [21, 23]
    assert x.tolist() == [1, 2]
    assert augmented(x, u32s(10)) is x
    assert x.tolist() == [21, 23]


@vyre.kernel(workgroup_size=1)
def tickets(counter: InOut[u32], out: InOut[u32]) -> None:
    out[vyre.atomic_add(counter, 0, 1)] += 5
    out[vyre.atomic_add(counter, 0, 1)] = vyre.atomic_add(counter, 0, 10)


def test_an_index_with_an_effect_is_evaluated_once_and_after_the_value() -> None:
    counter, out = tickets(u32s(0), u32s(*[0] * 16), workgroups=1)
    assert counter.tolist() == [12]
    assert out.tolist() == [5] + [0] * 10 + [1] + [0] * 4


@vyre.kernel
def logic(a: In[u32], flags: In[boolean], out: Out[u32], found: Out[boolean]) -> None:
    i = vyre.invocation_id(0)
    hit = False
    if (flags[i] and a[i] > 1) or not a[i]:
        hit = True
    found[i] = hit
    out[i] = flags[i] + (1 < a[i] <= 3) + (flags[i] == (a[i] == 2))
    if i == 2:
        return
    out[i] += 100


def test_logic_bools_and_early_return() -> None:
    out, found = logic(u32s(0, 1, 2, 9), np.array([True, True, True, False]))
    assert out.tolist() == [101, 101, 3, 101]
    assert found.tolist() == [True, False, True, False]


@vyre.kernel
def conversions(x: In[f32], out: Out[i32], bits: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = vyre.convert(x[i], i32, mode="floor")
    bits[i] = vyre.bitcast(x[i], u32) ^ vyre.bitcast(vyre.cast(x[i], f16), u32)


def test_conversions_by_value_and_by_bits() -> None:
    out, bits = conversions(f32s(-1.5, 2.0))
    assert out.tolist() == [-2, 2]
    assert bits.tolist() == [0xBFC00000 ^ 0xBE00, 0x40000000 ^ 0x4000]


@vyre.kernel
def reductions(x: In[f32], out: Out[f32]) -> None:
    out[0] = vyre.freduce("add", x, 0, len(x))
    out[1] = vyre.freduce("max", x, 1, 3, order="tree")
    out[2] = vyre.approx("exp", x[0] * 0, ulps=4)


def test_float_reductions() -> None:
    result = reductions(f32s(1, 2, 3, 4), out=3, workgroups=1, backend="reference")
    assert result.tolist() == [10.0, 3.0, 1.0]


@vyre.kernel
def words(data: In[packed_bytes], out: Out[packed_bytes]) -> None:
    i = vyre.invocation_id(0)
    out[i] = data[i] ^ 0xFFFFFFFF


def test_bytes_are_words_inside_and_bytes_outside() -> None:
    result = words(b"abcde")
    assert result.dtype == np.uint8
    assert result.tobytes() == bytes(b ^ 0xFF for b in b"abcde\0\0\0")


@vyre.kernel
def scoped(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if x[i]:
        t = 1
        out[i] = t
    else:
        t = 2.5
        out[i] = vyre.convert(t, u32)
    t = x[i] + 1
    for k in range(2):
        inner = t * k
        out[i] += inner
    for k in range(1):
        out[i] += k


def test_a_name_may_live_again_after_its_block() -> None:
    assert scoped(u32s(0, 5)).tolist() == [3, 7]


def test_two_dimensions() -> None:
    width = 3

    @vyre.kernel(workgroup_size=(2, 2))
    def transpose(x: In[u32], out: Out[u32]) -> None:
        c = vyre.invocation_id(0)
        r = vyre.invocation_id(1)
        if c < width and r < width:
            out[c * width + r] = x[r * width + c]

    x = np.arange(9, dtype=np.uint32).reshape(3, 3)
    assert transpose.program.workgroup_size == (2, 2, 1)
    assert transpose(x, workgroups=(2, 2)).reshape(3, 3).tolist() == x.T.tolist()


def test_statements_keep_the_users_lines() -> None:
    locations = block_sums.source_program.locations
    assert locations["entry[0]"].text.strip() == "i = vyre.invocation_id(0)"
    assert locations["entry[4].body[1].then[0]"].text.strip() == "tile[j] += tile[j + half]"
    assert all(place.file == __file__ for place in locations.values())


def test_validation_points_at_the_users_line_when_decorating() -> None:
    def divergent(out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        if i < 3:
            vyre.barrier()
        out[i] = 1

    with pytest.raises(ValidationError, match=r"test_frontend_kernels\.py:\d+:13") as caught:
        vyre.kernel(divergent)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "V010"
    assert diagnostic.location is not None
    assert diagnostic.location.text.strip() == "vyre.barrier()"
    assert "\n                vyre.barrier()\n                ^" in str(caught.value)


def test_deep_expressions_need_no_stack(tmp_path: Path) -> None:
    path = tmp_path / "deep.py"
    chain = " + ".join(["x[0]"] * 700)
    path.write_text(
        README.split("@vyre")[0] + f"@vyre.kernel\ndef k(x: In[u32], out: Out[u32]):\n    out[0] = {chain}\n"
    )
    kernel = runpy.run_path(str(path))["k"]
    assert kernel(u32s(3)).tolist() == [2100]
