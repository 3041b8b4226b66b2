"""Arrays of any library: where they are, their memory as a NumPy array, and word of what was written.

Nothing here imports those libraries. torch counts the writes to a tensor, and autograd refuses to go back
through values that were changed since; what a program writes is counted too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import DispatchError, VyreError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_DLPACK_HOST = (1, 3, 11, 13)
"""Kinds of memory in DLPack that the host can read: its own, pinned for CUDA or ROCm, managed by CUDA."""


def is_on_device(value: Any) -> bool:
    """Whether this is memory of a GPU, ours or a stranger's, which the host cannot read."""
    if value is None or isinstance(value, (np.ndarray, bytes, bytearray)):
        return False
    if hasattr(value, "_vyre_serial"):
        return True
    where = getattr(value, "__dlpack_device__", None)
    if where is None:
        return hasattr(value, "__cuda_array_interface__")
    try:
        return int(where()[0]) not in _DLPACK_HOST
    except Exception:  # a producer that cannot say where its memory is; importing it will say why
        return False


def plain_array(what: str, value: Any) -> Array:
    """The elements of an array of NumPy, of whatever class it is; one that hides some of them is refused."""
    masked: Any = sys.modules.get("numpy.ma")  # which takes NumPy a while to load
    if masked is not None and isinstance(value, masked.MaskedArray):
        raise DispatchError(
            f"{what} is a masked array, and a kernel has no masked elements.",
            fix="pass x.filled(v) to put v for the masked elements, or x.data for what lies under the mask.",
        )
    return value.view(np.ndarray)


def host_array(what: str, value: Any) -> Array:
    """An array of the host of any library, a number, or lists of numbers as an array of NumPy."""
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            given = from_dlpack(value, written=False)
        else:
            given = np.asanyarray(value)
    except ValueError as error:  # lists of different lengths
        raise DispatchError(
            f"{what} is not an array: {str(error).splitlines()[0].rstrip('.')}.",
            fix="pass numbers in lists of equal lengths, or an array.",
        ) from None
    except VyreError:  # a tensor that is traced
        raise
    except Exception as error:  # every library has errors of its own
        raise not_handed_over(what, value, error) from None
    return plain_array(what, given)


def host_or_device(what: str, value: Any) -> Any:
    """What has a shape and a dtype: an array of the host, or one on a device as it is."""
    return value if is_on_device(value) else host_array(what, value)


def not_handed_over(what: str, value: Any, error: Exception) -> DispatchError:
    """The error for an array that its own library does not hand over to NumPy."""
    if "grad" in str(error):
        fix = "pass x.detach()."
    elif str(getattr(value, "dtype", "")) == "torch.bfloat16":
        fix = "pass x.view(torch.uint16).numpy().view(ml_dtypes.bfloat16), the same memory."
    else:
        fix = "pass an array of the host with all of its elements, of a type that NumPy has."
    said = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return DispatchError(f"{what} is not an array that NumPy can read: {said}.", fix=fix)


def from_dlpack(value: Any, *, written: bool) -> Array:
    """The memory of a host array that speaks DLPack; every producer raises errors of its own.

    A capsule without a version does not say whether its memory may be written, and NumPy takes it as
    read-only; older versions of NumPy take every capsule so. Then the producer's own view for NumPy says it.
    """
    array: Array = np.from_dlpack(value)
    if not written or array.flags.writeable or not hasattr(value, "__array__"):
        return array
    own: Array = np.asarray(value)
    same = own.dtype == array.dtype and own.shape == array.shape and own.strides == array.strides
    return own if own.flags.writeable and same and np.may_share_memory(own, array) else array


def note_written(value: Any) -> None:
    """Tells the library that an array belongs to that its memory was written."""
    if isinstance(value, np.ndarray):
        return
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return
    tensor: Any = value
    if not tensor.is_inference():  # such a tensor has no counter
        torch.autograd.graph.increment_version(tensor)
