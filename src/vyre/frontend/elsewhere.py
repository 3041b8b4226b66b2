"""Names that newcomers bring along from CUDA, OpenCL, Numba, Triton and NumPy, and what they are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.frontend.values import OPERAND

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORKGROUP_SIZE = "write the number that @vyre.kernel(workgroup_size=…) has."
_CAS = "write vyre.atomic_compare_exchange(buffer, index, value, expected)."
ELSEWHERE = {
    "threadIdx": "write vyre.local_id(0).",
    "thread_id": "write vyre.local_id(0), or vyre.invocation_id(0) for the place in the whole grid.",
    "blockIdx": "write vyre.workgroup_id(0).",
    "block_id": "write vyre.workgroup_id(0).",
    "program_id": "write vyre.workgroup_id(0).",
    "global_id": "write vyre.invocation_id(0).",
    "get_global_id": "write vyre.invocation_id(0).",
    "get_local_id": "write vyre.local_id(0).",
    "get_group_id": "write vyre.workgroup_id(0).",
    "grid": "write vyre.grid(1), or i, j = vyre.grid(2).",
    "blockDim": _WORKGROUP_SIZE,
    "local_size": _WORKGROUP_SIZE,
    "gridDim": "write vyre.num_workgroups(0).",
    "num_programs": "write vyre.num_workgroups(0).",
    "gridsize": "write vyre.num_invocations(0).",
    "get_num_groups": "write vyre.num_workgroups(0).",
    "get_global_size": "write vyre.num_invocations(0).",
    "syncthreads": "write vyre.barrier().",
    "__syncthreads": "write vyre.barrier().",
    "sync": "write vyre.barrier().",
    "where": "write vyre.select(c, x, y).",
    "minimum": "write min(x, y).",
    "maximum": "write max(x, y).",
    "absolute": "write abs(x).",
    "clip": "write min(max(x, low), high).",
    "power": "write vyre.pow(x, y).",
    "rsqrt": "write 1.0 / vyre.sqrt(x).",
    "atomic_sub": "write vyre.atomic_add(buffer, index, 0 - value).",
    "atomic_inc": "write vyre.atomic_add(buffer, index, 1).",
    "atomic_dec": "write vyre.atomic_add(buffer, index, 0xffffffff).",
    "atomic_cas": _CAS,
    "atomic_exch": "write vyre.atomic_exchange(buffer, index, value).",
    "atomicAdd": "write vyre.atomic_add(buffer, index, value).",
    "atomicSub": "write vyre.atomic_add(buffer, index, 0 - value).",
    "atomicMin": "write vyre.atomic_min(buffer, index, value).",
    "atomicMax": "write vyre.atomic_max(buffer, index, value).",
    "atomicExch": "write vyre.atomic_exchange(buffer, index, value).",
    "atomicCAS": _CAS,
    "cuda": "use the functions of vyre: invocation_id, local_id, workgroup_id, shared, barrier.",
    "int32": "write i32.",
    "uint32": "write u32.",
    "float16": "write f16.",
    "float32": "write f32.",
    "float64": "write f64.",
    "bool_": "write boolean.",
    "zeros": "vyre.private(u32, 64) is an array of one invocation, vyre.shared(u32, 64) one of a workgroup.",
    "empty": "vyre.private(u32, 64) is an array of one invocation, vyre.shared(u32, 64) one of a workgroup.",
}
"""What names of other GPU languages and of NumPy are called here."""

METHODS = {
    "astype": "vyre.convert(x, f32) gives the value between integers and floats, rounded; vyre.cast(x, u64) "
    "changes the width; vyre.bitcast(x, u32) keeps the bits.",
    "view": "write vyre.bitcast(x, u32).",
    "bit_length": "write 32 - vyre.clz(x).",
    "bit_count": "write vyre.popcount(x).",
    "item": "leave it out: this is a number already.",
}
"""The same for methods of NumPy scalars."""


def product(times: float) -> str:
    """What to write for a power of an integer."""
    return f"write {' * '.join([OPERAND] * int(times))}." if times in (2, 3, 4) else "multiply in a loop."


def spelling(name: str, known: Iterable[str]) -> str:
    """What was probably meant by a name that a module does not have."""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1)
    return ELSEWHERE.get(name) or (f"did you mean {close[0]}?" if close else "check the spelling.")


def unknown(name: str) -> str:
    """What to write for a name that nothing around the kernel defines."""
    from vyre.frontend import builtins

    made_in = str(getattr(getattr(builtins, name, None), "__module__", ""))
    ours = made_in.startswith("vyre.frontend")
    here = f"write vyre.{name}, or import it: from vyre import {name}." if ours else ""
    return ELSEWHERE.get(name) or here or "define or import it above the function."
