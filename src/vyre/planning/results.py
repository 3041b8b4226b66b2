"""Outputs that stay where the inputs were: buffers on the device, or arrays of the library that gave them.

Nothing is copied here: what a kernel wrote belongs to the caller from then on.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.device_buffer import DeviceBuffer, device_zeros
from vyre.backends.foreign import is_on_device

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from vyre.backends.protocol import Backend


def returned_as(values: Collection[Any]) -> Callable[[DeviceBuffer], Any] | None:
    """What makes of a buffer an array as the caller has them; None where no value is on a device.

    Where all that are there belong to one library, such as torch or CuPy, outputs are arrays of it. They are
    buffers of vyre otherwise.
    """
    there = [value for value in values if is_on_device(value)]
    if not there:
        return None
    owners = {type(value).__module__.partition(".")[0] for value in there}
    library = sys.modules.get(owners.pop()) if len(owners) == 1 else None
    found = getattr(library, "from_dlpack", None)
    return found if callable(found) else lambda buffer: buffer


def bfloat_of(values: Collection[Any]) -> np.dtype[Any] | None:
    """The dtype of bfloat16, where the caller has arrays of it and NumPy knows it."""
    if not any(str(value.dtype).endswith("bfloat16") for value in values):
        return None
    try:
        import ml_dtypes
    except ImportError:  # torch has a bfloat16 of its own
        return None
    return np.dtype(ml_dtypes.bfloat16)


def shaped(buffer: DeviceBuffer, shape: tuple[int, ...], backend: Backend) -> DeviceBuffer:
    """A flat buffer in its shape, without what stood in for the elements of a shape that has none."""
    if 0 in shape:
        return device_zeros(shape, buffer.dtype, backend=backend)
    buffer.shape = shape
    return buffer
