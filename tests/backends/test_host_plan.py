"""Plain arrays take the short way, all others the ordinary one, and nobody can tell which it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.dispatch import Compiled, compile_program
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.host_plan import HostPlan

X = BufferDecl.read("x", 0, DataType.U32)
Y = BufferDecl.read_write("y", 1, DataType.U32)
OUT = BufferDecl.read_write("out", 2, DataType.U32)
I = InvocationId(0)  # noqa: E741 - short, because it stands in every line
PROGRAM = Program([X, Y, OUT], (64,), [Y.store(I, Y[I] + X[I]), OUT.store(I, X[I] + X[I])])
LENGTHS = {"out": ("x", "y")}


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_program(PROGRAM, backend=CpuBackend(threads=2, canaries=False))


def plan_of(compiled: Compiled) -> HostPlan:
    assert compiled._plain is not None
    return compiled._plain


def words(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def short_way(
    compiled: Compiled, buffers: dict[str, Any], *, copy: bool = False, zeroed: tuple[str, ...] = ()
) -> Any:
    return plan_of(compiled)(buffers, LENGTHS, None, copy=copy, zeroed=zeroed)


def ordinary_way(
    compiled: Compiled,
    buffers: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    copy: bool = False,
    zeroed: tuple[str, ...] = (),
) -> dict[str, Any]:
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "_plain", None)
        return compiled(buffers, lengths=LENGTHS, copy=copy, zeroed=zeroed)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


PLAIN: list[dict[str, Any]] = [
    {"x": words(1, 2, 3), "y": words(4, 5, 6)},
    {"x": read_only(words(1, 2, 3)), "y": words(4, 5, 6)},
    {"x": words(1, 2, 3).tobytes(), "y": words(4, 5, 6)},
    {"x": words(*range(6)).reshape(2, 3), "y": words(7, 8, 9, 10).reshape(2, 2)},
    {"x": words(*range(9))[3:6], "y": words(4, 5, 6), "out": words(9, 9)},
    {"x": words(), "y": words(4, 5, 6)},
    {"x": np.arange(70_000, dtype=np.uint32), "y": np.ones(70_000, np.uint32)},
]


@pytest.mark.parametrize("zeroed", [(), ("y",), ("y", "out")])
@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("buffers", PLAIN)
def test_both_ways_give_the_same(
    buffers: dict[str, Any],
    copy: bool,
    zeroed: tuple[str, ...],
    compiled: Compiled,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = {n: v if isinstance(v, bytes) or not v.flags.writeable else v.copy() for n, v in buffers.items()}
    theirs = {n: v if isinstance(v, bytes) or not v.flags.writeable else v.copy() for n, v in buffers.items()}
    short = short_way(compiled, ours, copy=copy, zeroed=zeroed)
    ordinary = ordinary_way(compiled, theirs, monkeypatch, copy=copy, zeroed=zeroed)
    assert short is not None
    assert list(short) == list(ordinary) == ["y", "out"]
    for name, array in ordinary.items():
        assert short[name].dtype == array.dtype
        assert short[name].shape == array.shape
        assert short[name].tobytes() == array.tobytes()
    for name, array in ours.items():
        assert np.array_equal(np.asarray(array), np.asarray(theirs[name]))
    assert (short["y"] is ours["y"]) == (not copy)


STRIDED = np.arange(6, dtype=np.uint32)[::2]
SHARED = words(1, 2, 3, 4)
UNALIGNED = np.frombuffer(bytes(17), np.uint8)[1:].view(np.uint32)
NOT_PLAIN: dict[str, dict[str, Any]] = {
    "strided": {"x": STRIDED, "y": words(1, 2, 3)},
    "unaligned": {"x": UNALIGNED, "y": words(1, 2, 3)},
    "another dtype": {"x": np.zeros(3, np.float32), "y": words(1, 2, 3)},
    "the other byte order": {"x": np.zeros(3, ">u4"), "y": words(1, 2, 3)},
    "a class of its own": {"x": np.ma.masked_array(words(1, 2, 3)), "y": words(1, 2, 3)},
    "a number": {"x": np.array(3, np.uint32), "y": words(1, 2, 3)},
    "a list": {"x": [1, 2, 3], "y": words(1, 2, 3)},
    "no whole elements": {"x": bytes(5), "y": words(1, 2, 3)},
    "overlap": {"x": SHARED[:3], "y": SHARED[1:]},
    "the same array": {"x": SHARED, "y": SHARED},
    "missing": {"y": words(1, 2, 3)},
    "unknown": {"x": words(1, 2, 3), "y": words(1, 2, 3), "z": words(1, 2, 3)},
    "none at all": {"x": words(), "y": words()},
}
REFUSED = NOT_PLAIN.keys() - {"strided", "unaligned", "none at all"}


@pytest.mark.parametrize("what", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_the_ordinary_way(what: str, compiled: Compiled) -> None:
    buffers = NOT_PLAIN[what]
    assert short_way(compiled, buffers) is None
    if what in REFUSED:
        with pytest.raises(DispatchError):
            compiled(buffers, lengths=LENGTHS)
    else:
        assert compiled(buffers, lengths=LENGTHS)["out"].tolist() == [int(v) * 2 for v in buffers["x"]]


def test_read_only_memory_is_not_written(compiled: Compiled) -> None:
    buffers = {"x": words(1, 2), "y": read_only(words(3, 4))}
    assert short_way(compiled, buffers) is None
    with pytest.raises(DispatchError, match="read-only"):
        compiled(buffers, lengths=LENGTHS)
    assert compiled(buffers, lengths=LENGTHS, copy=True)["y"].tolist() == [4, 6]


def test_lengths_and_grids_are_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compile_program(PROGRAM, backend=CpuBackend(threads=1, canaries=False))
    prepared: list[Any] = []
    plan = plan_of(compiled)
    inner = plan._prepare

    def counted(lengths: tuple[int, ...], workgroups: Any) -> Any:
        prepared.append((lengths, workgroups))
        return inner(lengths, workgroups)

    monkeypatch.setattr(plan, "_prepare", counted)
    for workgroups in (None, None, 1, (1, 1), [1], None):
        for length in (2, 3, 2):
            found = compiled(
                {"x": words(*range(length)), "y": words(9)}, lengths=LENGTHS, workgroups=workgroups
            )
            assert found["out"].tolist() == [2 * k for k in range(length)]
    assert len(prepared) == len(set(prepared)) == 6


def test_an_empty_grid_runs_nothing(compiled: Compiled) -> None:
    found = compiled({"x": words(1, 2), "y": words(3, 4)}, lengths=LENGTHS, workgroups=0)
    assert found["y"].tolist() == [3, 4]
    assert found["out"].tolist() == [0, 0]


def test_a_grid_that_no_device_runs_is_refused_again_and_again(compiled: Compiled) -> None:
    for _ in range(2):
        with pytest.raises(DispatchError, match="invocation ids beyond a u32"):
            compiled({"x": words(1), "y": words(1)}, lengths=LENGTHS, workgroups=1 << 30)


@pytest.mark.parametrize(
    "element",
    [DataType.Vec4U32, DataType.U128, DataType.Bytes, DataType.Bool, DataType.U64],
)
def test_outputs_of_every_element_have_the_same_shape_both_ways(
    element: DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = BufferDecl.read("x", 0, element)
    target = BufferDecl.read_write("out", 1, element)
    program = Program([source, target], (64,), [target.store(I, source[I])])
    compiled = compile_program(program, backend=CpuBackend(threads=1, canaries=False))
    inputs = {"x": np.arange(16 * 3, dtype=np.uint8).tobytes()}
    lengths = {"out": ("x",)}
    ours = compiled(inputs, lengths=lengths)["out"]
    monkeypatch.setattr(compiled, "_plain", None)
    theirs = compiled(inputs, lengths=lengths)["out"]
    assert (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())


def test_a_kernel_with_scalars_takes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    @vyre.kernel
    def scaled(x: vyre.In[vyre.f32], factor: vyre.f32, out: vyre.Out[vyre.f32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = x[i] * factor

    x = np.array([1, 2], np.float32)
    assert scaled(x, 2.0).tolist() == [2, 4]
    monkeypatch.setattr("vyre.backends.host.bind", None)
    assert scaled(x, 3.0).tolist() == [3, 6]


def test_what_is_written_whole_is_not_cleared_and_all_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that is handed out is full of ones here, so that whoever relies on zeros is seen."""
    real = np.empty

    def dirty(shape: Any, dtype: Any = float) -> NDArray[Any]:
        made = real(shape, dtype)
        made.fill(0xFFFFFFFF)
        handed.append(made.size)
        return made

    handed: list[int] = []
    whole = Program([X, OUT], (64,), [OUT.store(I, X[I] + 1)])
    half = Program([X, OUT], (64,), [OUT.store(I * 2, X[I] + 1)])
    backend = CpuBackend(threads=1, canaries=False)
    one, other = (compile_program(program, backend=backend) for program in (whole, half))
    monkeypatch.setattr("vyre.backends.host_plan.np.empty", dirty)
    x, lengths = words(*range(100)), {"out": ("x",)}
    assert one({"x": x}, lengths=lengths)["out"].tolist() == (x + 1).tolist()
    assert handed == [100]
    found = other({"x": x}, lengths=lengths)["out"].tolist()
    assert found == [k // 2 + 1 if k % 2 == 0 else 0 for k in range(100)]
    short = one({"x": x}, lengths=lengths, workgroups=1)["out"].tolist()
    assert short == [k + 1 if k < 64 else 0 for k in range(100)]
    assert handed == [100]
