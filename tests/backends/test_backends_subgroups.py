"""Which devices get subgroup instructions, asked of made-up devices; and who refuses what."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends import BackendInfo, get
from vyre.backends.reference.backend import ReferenceBackend
from vyre.backends.subgroups import WIDTHS, all_instructions, observed_width, opencl_hardware, working
from vyre.compose import BackendAvailability, Category, Op, Param, default_registry
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.ir.expr import Call
from vyre.ir.node import Store
from vyre.ir.walk import transform, with_parts
from vyre.lower.packed import PACKED
from vyre.ops.intrinsics.subgroup import NAMES, hardware_id, op_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.lower.source import Source

    Run = Callable[[Mapping[str, memoryview], tuple[int, int, int]], None]

OUT = BufferDecl.read_write("out", 0, DataType.U32)
ID = InvocationId(0)


def program(width: int, name: str = "reduce_add") -> Program:
    call = Call(op_id(width, name), (ID, ID) if name.startswith("shuffle") else (ID,))
    return Program([OUT], (64,), [Store("out", ID, call)])


def lanes(report: Callable[[int], tuple[int, int]]) -> Callable[[Source], Run]:
    """A device whose invocation k of a workgroup reports (size, lane) as given."""

    def build(source: Source) -> Run:
        def run(buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
            count = source.workgroup_size[0]
            pairs = [report(k) for _ in range(workgroups[0]) for k in range(count)]
            buffers["out"][:] = b"".join(struct.pack("<II", *pair) for pair in pairs)

        return run

    return build


@pytest.mark.parametrize("width", WIDTHS)
def test_consecutive_lanes_show_their_width(width: int) -> None:
    assert observed_width(lanes(lambda k: (width, k % width))) == width


LIARS: dict[str, Callable[[int], tuple[int, int]]] = {
    "lanes in reverse": lambda k: (8, 7 - k % 8),
    "lanes in quads": lambda k: (8, (k % 2) + 2 * (k // 4 % 2) + 4 * (k // 2 % 2)),
    "strided": lambda k: (8, k // 4 % 8),
    "two widths": lambda k: (8, k % 8) if k < 64 else (16, k % 16),
    "64 lanes": lambda k: (64, k % 64),
    "one lane": lambda k: (1, 0),
    "no width": lambda k: (12, k % 12),
    "zero": lambda k: (0, 0),
}


@pytest.mark.parametrize("report", LIARS.values(), ids=LIARS)
def test_other_mappings_are_not_admitted(report: Callable[[int], tuple[int, int]]) -> None:
    assert observed_width(lanes(report)) == 0


def test_a_width_that_changes_with_the_workgroup_is_none() -> None:
    def build(source: Source) -> Run:
        width = 8 if source.workgroup_size[0] == 32 else 16
        return lanes(lambda k: (width, k % width))(source)

    assert observed_width(build) == 0


def swapped(wrong: str, right: str) -> Callable[[Program], Run]:
    """The reference with one instruction taken for another."""

    def build(program: Program) -> Run:
        def change(x: Any) -> Any:
            named = isinstance(x, Call) and x.op_id.endswith(f".{right}")
            return Call(x.op_id.replace(f".{right}", f".{wrong}"), x.args) if named else x

        entry = [with_parts(n, tuple(transform(x, change) for x in n.exprs), n.bodies) for n in program.entry]
        return ReferenceBackend().compile(Program(program.buffers, program.workgroup_size, entry)).run

    return build


def test_what_works_is_kept_and_what_does_not_is_dropped() -> None:
    ops = [op for op in all_instructions().values() if op.lanes == 8]
    every = {hardware_id(8, name) for name in NAMES}
    assert working(ops, lambda p: ReferenceBackend().compile(p).run) == every
    swaps = {"shuffle_up": "shuffle_down", "reduce_max": "reduce_or", "shuffle": "shuffle_xor"}
    for wrong, right in swaps.items():
        assert working(ops, swapped(wrong, right)) == every - {hardware_id(8, right)}
    assert working([], lambda p: ReferenceBackend().compile(p).run) == frozenset()


class FakeOpenCl:
    def __init__(self, *extensions: str) -> None:
        self.extensions = " ".join(extensions)


def narrow(width: int) -> Callable[[Program], Run]:
    """An OpenCL device of one width: other instructions do not compile."""

    def build(program: Program) -> Run:
        if not re.search(rf"subgroup{width}\.", program.to_text()):
            raise VyreError("the compiler refuses.", fix="use another width.")
        return ReferenceBackend().compile(program).run

    return build


def test_opencl_devices_need_the_extension_and_the_width() -> None:
    every = ("cl_khr_subgroups", "cl_khr_subgroup_shuffle", "cl_khr_subgroup_ballot")
    assert opencl_hardware(FakeOpenCl(), narrow(16)) == frozenset()
    assert opencl_hardware(FakeOpenCl(*every[1:]), narrow(16)) == frozenset()
    reductions = {hardware_id(16, f"reduce_{name}") for name in ("add", "min", "max")}
    assert opencl_hardware(FakeOpenCl(every[0]), narrow(16)) == reductions
    found = opencl_hardware(FakeOpenCl(*every), narrow(16))
    assert found == reductions | {hardware_id(16, n) for n in NAMES if not n.startswith("reduce")}


class FakeNvidia(FakeOpenCl):
    compute_capability_major_nv = 9

    def __init__(self, warp: int) -> None:
        super().__init__("cl_nv_device_attribute_query")
        self.warp_size_nv = warp


def test_opencl_of_nvidia_has_what_its_warps_were_seen_to_do() -> None:
    every = {hardware_id(32, name) for name in NAMES}
    assert opencl_hardware(FakeNvidia(32), narrow(32)) == every
    found = opencl_hardware(FakeNvidia(32), swapped("shuffle_up", "shuffle_down"))
    assert found == (every | PACKED) - {hardware_id(32, "shuffle_down")}
    assert opencl_hardware(FakeNvidia(32), narrow(8)) == frozenset()  # its compiler refuses them
    assert opencl_hardware(FakeNvidia(64), narrow(32)) == frozenset()


def test_the_reference_has_them_all_and_the_processor_none() -> None:
    info = ReferenceBackend().describe()
    assert info.categories == ("A", "C")
    assert info.hardware == {op.hardware for op in default_registry() if op.hardware}
    assert BackendInfo("x", "1", "y").hardware == frozenset()
    got = vyre.dispatch(program(32), {"out": np.zeros(64, np.uint32)}, backend="reference")["out"]
    assert got.tolist() == [496] * 32 + [1520] * 32


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_the_processor_refuses_every_one_at_compile_time(name: str, width: int) -> None:
    with pytest.raises(UnsupportedByBackend) as caught:
        vyre.compile_program(program(width, name), backend="cpu")
    assert (caught.value.op, caught.value.backend) == (op_id(width, name), "cpu")


def test_opencl_refuses_what_its_device_does_not_list() -> None:
    pytest.importorskip("pyopencl")
    try:
        backend = get("opencl")
    except VyreError as error:
        pytest.skip(str(error))
    for width in WIDTHS:
        if hardware_id(width, "reduce_add") in backend.describe().hardware:
            continue
        with pytest.raises(UnsupportedByBackend, match=f"intrinsic.subgroup{width}.reduce_add.*opencl"):
            backend.compile(program(width))


def test_instructions_of_a_private_registry_are_refused_by_name() -> None:
    here = BackendAvailability(("reference",))
    op = Op("acme.ray", (Param("x", DataType.U32),), DataType.U32, None, (), Category.C, "", "rt.hit", here)
    private = Program([OUT], (64,), [Store("out", ID, Call("acme.ray", (ID,)))])
    for backend in ("reference", "cpu"):
        with pytest.raises(UnsupportedByBackend) as caught:
            vyre.compile_program(private, backend=backend, registry=default_registry().extend([op]))
        assert (caught.value.op, caught.value.backend) == ("acme.ray", backend)
