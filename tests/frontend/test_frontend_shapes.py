"""Buffers with a shape: elements by coordinates, dimensions by name, outputs and grids by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import vyre
from vyre import DispatchError, In, InOut, Out, f32, u32

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre import KernelError

BACKENDS = ("reference", "cpu")


@vyre.kernel(workgroup_size=(4, 2))
def transpose(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["n", "m"]]) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[j, i]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (7, 2), (0, 4)])
def test_coordinates_and_the_shape_of_the_output_by_rule(backend: str, shape: tuple[int, int]) -> None:
    a = np.arange(shape[0] * shape[1], dtype=np.uint32).reshape(shape)
    result = transpose(a, backend=backend)
    assert result.shape == (shape[1], shape[0])
    assert np.array_equal(result, a.T)


@vyre.kernel
def shifted(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["m", "n"]], di: u32, dj: u32) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[i + di, j + dj] + 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("step", [(0, 1), (1, 0), (0, 4), (2**31, 2**31), (2**32 - 1, 0), (0, 2**32 - 1)])
def test_a_coordinate_past_its_dimension_is_out_of_bounds_and_nothing_wraps(
    backend: str, step: tuple[int, int]
) -> None:
    a = np.arange(100, 112, dtype=np.uint32).reshape(3, 4)
    expected = np.ones((3, 4), np.uint32)
    for i, j in np.ndindex(3, 4):
        y, x = (i + step[0]) % 2**32, (j + step[1]) % 2**32
        if y < 3 and x < 4:
            expected[i, j] += a[y, x]
    assert np.array_equal(shifted(a, di=step[0], dj=step[1], backend=backend), expected)


@vyre.kernel
def gather(
    a: In[u32, Literal["m", "n"]], rows: In[u32, Literal["k"]], out: Out[u32, Literal["k", "n"]]
) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[rows[i], j]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loaded_coordinate(backend: str) -> None:
    a = np.arange(12, dtype=np.uint32).reshape(3, 4)
    rows = np.array([2, 0, 2, 9], np.uint32)
    expected = np.stack([a[2], a[0], a[2], a[0] * 0])
    assert np.array_equal(gather(a, rows, backend=backend), expected)


@vyre.kernel
def scatter_add(out: InOut[u32, Literal["m", "n"]], at: In[u32]) -> None:
    i = vyre.invocation_id(0)
    if i < 1:
        out[at[0], at[1]] += 5
        out[at[0] + 1, 0] = out.size * 100 + out.shape[0] * 10 + len(out)


@pytest.mark.parametrize("backend", BACKENDS)
def test_changing_an_element_and_reading_the_shape(backend: str) -> None:
    result = scatter_add(np.ones((3, 2), np.uint32), np.array([1, 1], np.uint32), backend=backend)
    assert result.tolist() == [[1, 1], [1, 6], [633, 1]]


@vyre.kernel
def cube(out: Out[u32, Literal[2, "n", 4]]) -> None:
    i, j, k = vyre.grid(3)
    out[i, j, k] = i * 100 + j * 10 + k


@pytest.mark.parametrize("backend", BACKENDS)
def test_three_dimensions_asked_for_at_the_call(backend: str) -> None:
    i, j, k = np.indices((2, 3, 4))
    expected = i * 100 + j * 10 + k
    assert np.array_equal(cube(out=(2, 3, 4), backend=backend), expected)


def test_a_fixed_dimension_is_checked() -> None:
    with pytest.raises(DispatchError, match=r"\(3, 3, 4\).*fixed"):
        cube(out=(3, 3, 4))


@vyre.kernel
def square(a: In[f32, Literal["n", "n"]], out: Out[f32, Literal["n", "n"]]) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[j, i] * 2


def test_a_name_written_twice_is_two_dimensions_that_agree() -> None:
    a = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert np.array_equal(square(a), a.T * 2)
    with pytest.raises(DispatchError, match=r"both dimensions 'n' of a.*\(2, 3\)"):
        square(np.zeros((2, 3), np.float32))


@vyre.kernel
def matmul(
    a: In[f32, Literal["m", "k"]], b: In[f32, Literal["k", "n"]], out: Out[f32, Literal["m", "n"]]
) -> None:
    i, j = vyre.grid(2)
    total = 0.0
    for p in range(a.shape[1]):
        total += a[i, p] * b[p, j]
    out[i, j] = total


def test_names_that_disagree_are_refused_with_both_shapes() -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((4, 5), np.float32)
    with pytest.raises(
        DispatchError, match=r"'k' is 3 in a, of shape \(2, 3\), and 4 in b, of shape \(4, 5\)"
    ):
        matmul(a, b)
    assert matmul(a, b[:3]).tolist() == [[3.0] * 5] * 2


def test_another_number_of_dimensions_is_refused() -> None:
    with pytest.raises(DispatchError, match=r"2 dimensions and got the shape \(6,\)"):
        matmul(np.ones(6, np.float32), np.ones((3, 2), np.float32))
    with pytest.raises(DispatchError, match="bytes, which has no shape"):
        transpose(b"12345678")


@vyre.kernel
def outer_product(a: In[u32, Literal["m"]], out: Out[u32, Literal["m", "n"]]) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[i] * j


def test_a_dimension_that_nothing_says_is_asked_for() -> None:
    a = np.array([1, 2], np.uint32)
    with pytest.raises(DispatchError, match=r"cannot know the dimension 'n'.*out=\(m, n\)"):
        outer_product(a)
    assert outer_product(a, out=(2, 3)).tolist() == [[0, 1, 2], [0, 2, 4]]
    with pytest.raises(DispatchError, match="'m' is 2 in a"):
        outer_product(a, out=(3, 3))


@vyre.kernel
def double(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] * 2


def test_an_output_without_a_declared_shape_has_that_of_the_longest_input() -> None:
    assert double(np.ones((2, 3), np.uint32)).shape == (2, 3)
    assert double(np.ones(6, np.uint32), out=(3, 2)).shape == (3, 2)
    assert double(np.ones(6, np.uint32)).shape == (6,)
    with pytest.raises(DispatchError, match="cannot have the shape"):
        double(np.ones(6, np.uint32), out=(2, -3))


@vyre.kernel
def two_outputs(a: In[u32, Literal["m", "n"]], x: Out[u32, Literal["m", "n"]], y: Out[u32]) -> None:
    i, j = vyre.grid(2)
    x[i, j] = a[i, j]
    y[i] = j


def test_a_grid_over_outputs_of_two_shapes_is_refused() -> None:
    a = np.ones((2, 3), np.uint32)
    with pytest.raises(DispatchError, match=r"covers one shape.*workgroups="):
        two_outputs(a, y=7)
    assert two_outputs(a, y=7, workgroups=(1, 2))[0].tolist() == a.tolist()


@vyre.kernel
def by_ids(out: Out[u32]) -> None:
    out[vyre.invocation_id(1) * 64 + vyre.invocation_id(0)] = 1


def test_ids_along_y_need_a_grid() -> None:
    with pytest.raises(DispatchError, match="ids along y or z"):
        by_ids(out=128)
    assert by_ids(out=128, workgroups=(1, 2)).sum() == 128


@vyre.kernel(workgroup_size=(8, 2))
def counts(out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if i < 1:
        out[0] = vyre.num_workgroups(0)
        out[1] = vyre.num_workgroups(1)
        out[2] = vyre.num_invocations(0)
        out[3] = vyre.num_invocations(1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_how_many_workgroups_and_invocations_run(backend: str) -> None:
    assert counts(out=20, workgroups=(3, 5), backend=backend).tolist()[:4] == [3, 5, 24, 10]
    assert counts(out=20, backend=backend).tolist()[:4] == [3, 1, 24, 2]


@vyre.kernel(workgroup_size=(4, 4))
def tiles(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["m", "n"]]) -> None:
    tile = vyre.shared(u32, (4, 4))
    i, j = vyre.grid(2)
    y, x = vyre.local_id(1), vyre.local_id(0)
    tile[y, x] = a[i, j]
    vyre.barrier()
    out[i, j] = tile[3 - y, 3 - x]


@pytest.mark.parametrize("backend", BACKENDS)
def test_workgroup_memory_with_a_shape(backend: str) -> None:
    a = np.arange(32, dtype=np.uint32).reshape(4, 8)
    expected = np.concatenate([a[::-1, 3::-1], a[::-1, 7:3:-1]], axis=1)
    assert np.array_equal(tiles(a, backend=backend), expected)


def test_dimensions_are_part_of_the_program() -> None:
    names = [b.name for b in matmul.program.buffers]
    assert names == ["a", "b", "out", "params_u32"]
    assert matmul.program.buffers[3].count == 3


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        ("out[i, j] = §a[i]", "2 dimensions and got 1 index", "a[i, j]"),
        ("out[i, j] = §a[i, j, 0]", "got 3 indices", "a[i, j]"),
        ("out[i, j] = §w[i, j]", "1 dimension and got 2 indices", 'Literal["m", "n"]'),
        ("out[i, j] = §a[i, 3]", "coordinate 3 is outside the dimension 3", "0 to 2"),
        ("out[i, j] = §a[-1, j]", "counts from 0", "a.shape[0] - 1"),
        ("out[i, j] = §a.shape[2]", "outside the 2 elements", "in range"),
    ],
)
def test_wrong_coordinates(refused: Callable[[str], KernelError], body: str, message: str, fix: str) -> None:
    error = refused(
        'D = Literal["m", 3]\n@vyre.kernel\ndef k(a: In[u32, D], w: In[u32], out: Out[u32, D]):\n'
        f"    i, j = vyre.grid(2)\n    {body}\n"
    )
    assert message in error.message
    assert fix in error.fix


@pytest.mark.parametrize(
    "annotation", ['In[u32, "m", "n"]', 'In[u32, Literal["m", 0]]', 'In[u32, Literal["a b"]]']
)
def test_what_is_no_shape(load: Callable[[str], dict[str, Any]], annotation: str) -> None:
    with pytest.raises(vyre.KernelError, match=r'Literal\["m", '):
        load(f"@vyre.kernel\ndef k(a: {annotation}, out: Out[u32]):\n    out[0] = 1\n")


def test_a_grid_of_another_rank_than_the_output_is_refused(refused: Callable[[str], KernelError]) -> None:
    error = refused(
        '@vyre.kernel\ndef k(§out: Out[u32, Literal["m", "n"]]):\n    i = vyre.grid(1)\n    out[i, i] = 1\n'
    )
    assert "vyre.grid(2)" in error.fix


@vyre.kernel(workgroup_size=8)
def tallied(x: In[u32], out: InOut[u32, Literal["m", "n"]]) -> None:
    i = vyre.invocation_id(0)
    counts = vyre.shared(u32, (2, 4), atomic=True)
    if i < 8:
        counts[i // 4, i % 4] = 0
    vyre.barrier()
    vyre.atomic_add(counts, (x[i] % 2, x[i] % 4), 1)
    vyre.atomic_max(out, index=(x[i] % 2, 5), value=x[i])
    vyre.barrier()
    if i < 8:
        vyre.atomic_add(out, (i // 4, i % 4), counts[i // 4, i % 4])


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_atomics_take_coordinates(backend: str) -> None:
    x = np.array([1, 2, 3, 4, 5, 6, 7, 8], np.uint32)
    out = tallied(x, np.zeros((2, 6), np.uint32), workgroups=1, backend=backend)
    assert out.tolist() == [[2, 0, 2, 0, 0, 8], [0, 2, 0, 2, 0, 7]]


@pytest.mark.parametrize("place", ["i", "(i, i, i)"])
def test_atomics_take_as_many_coordinates_as_there_are(
    place: str, refused: Callable[[str], KernelError]
) -> None:
    error = refused(
        '@vyre.kernel\ndef k(out: InOut[u32, Literal["m", "n"]]) -> None:\n'
        f"    i = vyre.invocation_id(0)\n    §vyre.atomic_add(out, {place}, 1)\n"
    )
    assert "has 2 dimensions" in error.message
    assert error.fix == "write vyre.atomic_add(out, (i, j), …)."
