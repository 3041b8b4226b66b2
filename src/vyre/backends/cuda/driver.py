"""Calls of the CUDA driver and of NVRTC: their packages, their answers, and what a failure means."""

from __future__ import annotations

import importlib
from typing import Any

from vyre.errors import DeviceError, DeviceLost, DeviceOutOfMemory

_HARMLESS = (
    "CUDA_ERROR_INVALID_VALUE",
    "CUDA_ERROR_NOT_INITIALIZED",
    "CUDA_ERROR_NO_DEVICE",
    "CUDA_ERROR_INVALID_DEVICE",
    "CUDA_ERROR_INVALID_IMAGE",
    "CUDA_ERROR_INVALID_PTX",
    "CUDA_ERROR_INVALID_SOURCE",
    "CUDA_ERROR_NO_BINARY_FOR_GPU",
    "CUDA_ERROR_NOT_FOUND",
    "CUDA_ERROR_NOT_SUPPORTED",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
)
"""Refusals after which the device works on. Any other error of the driver may have spoilt the context."""


def bindings(module: str) -> Any:
    """A module of `cuda.bindings`, which carries no types."""
    return importlib.import_module(f"cuda.bindings.{module}")


def check(result: Any) -> Any:
    """The value of a call of the driver or NVRTC, or a `DeviceError` that names its status."""
    status, *values = result
    if int(status) != 0:
        raise _error(str(status.name))
    return values[0] if len(values) == 1 else tuple(values)


def _error(status: str) -> DeviceError:
    if status == "CUDA_ERROR_OUT_OF_MEMORY":
        return DeviceOutOfMemory(
            f"the CUDA device is out of memory: {status}.",
            fix="use smaller buffers, close device buffers, or free memory on the device.",
        )
    if not status.startswith("CUDA_ERROR_") or status in _HARMLESS:
        return DeviceError(
            f"the CUDA device or its driver refused: {status}.",
            fix="choose another backend; the process can go on.",
        )
    return DeviceLost(
        f"the CUDA device failed: {status}.",
        fix="choose another backend; CUDA itself works again in a new process.",
    )


def address_of(view: memoryview) -> int:
    """Where the bytes lie, read-only views included; the view keeps them alive."""
    import numpy as np

    return int(np.frombuffer(view, dtype=np.uint8).ctypes.data)


def driver_version() -> str:
    """What the driver says of itself."""
    try:
        with open("/proc/driver/nvidia/version") as file:
            return file.readline().strip()
    except OSError:
        return "unknown"
