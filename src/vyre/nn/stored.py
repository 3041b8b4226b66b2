"""Weights out of a file of the safetensors format, read and checked by the package `safetensors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError, boundary
from vyre.files import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "U32": "<u4",
    "I16": "<i2",
    "U16": "<u2",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
    "F8_E4M3": "u1",
    "F8_E5M2": "u1",
}
"""Codes of 8 bits are U8, as `fp8_decode` takes them; BF16 is a dtype of ml_dtypes."""


@boundary
def load_weights(path: str | Path) -> dict[str, NDArray[Any]]:
    """The tensors of a .safetensors file by name, read-only. Raises `VyreError` for an unsound file."""
    try:
        from safetensors import SafetensorError, deserialize  # pyright: ignore[reportUnknownVariableType]
    except ImportError:
        raise VyreError(
            "the package safetensors is not installed.", fix="pip install 'vyre[safetensors]'."
        ) from None
    data = read_bytes(str(path))
    try:
        found: Any = deserialize(data)
    except SafetensorError as error:
        raise VyreError(
            f"{path} is not a sound safetensors file: {str(error).rstrip('.')}.",
            fix="copy or download it again; a file that was cut off is refused.",
        ) from None
    return {name: _array(str(path), name, tensor) for name, tensor in found}


def _array(path: str, name: str, tensor: dict[str, Any]) -> NDArray[Any]:
    kind = tensor["dtype"]
    if kind == "BF16":
        dtype = _bfloat(name)
    elif kind in _DTYPES:
        dtype = np.dtype(_DTYPES[kind])
    else:
        raise VyreError(
            f"{path}: {name!r} holds {kind}, which no tensor of vyre does.",
            fix="convert it before it is saved, for example to F32.",
        )
    made: NDArray[Any] = np.frombuffer(tensor["data"], np.uint8).view(dtype).reshape(tensor["shape"])
    made.flags.writeable = False
    return made


def _bfloat(name: str) -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError:
        raise VyreError(
            f"{name!r} holds BF16, and the package ml_dtypes is not installed.",
            fix="pip install 'vyre[safetensors]'.",
        ) from None
    return np.dtype(ml_dtypes.bfloat16)
