"""Weights out of safetensors files: bits as they are stored, and clear words for files that lie."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("safetensors")


def written(path: Path, header: Any, data: bytes, *, length: int | None = None) -> Path:
    """A file of this header and data, whether or not they fit."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def tensor(dtype: str, shape: list[int], start: int, stop: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


def test_every_type_keeps_its_bits(tmp_path: Path) -> None:
    pytest.importorskip("ml_dtypes")
    sizes = {
        "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2, "I8": 1,
        "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
    }  # fmt: skip
    header: dict[str, Any] = {}
    data = b""
    for kind, size in sizes.items():
        part = bytes([1, 0] * size * 3)[: 6 * size] if kind == "BOOL" else bytes(range(6 * size))
        header[kind] = tensor(kind, [2, 3], len(data), len(data) + len(part))
        data += part
    found = nn.load_weights(written(tmp_path / "all.safetensors", header, data))
    assert found.keys() == sizes.keys()
    for kind, array in found.items():
        start, stop = header[kind]["data_offsets"]
        assert array.shape == (2, 3)
        assert array.tobytes() == data[start:stop]
        assert not array.flags.writeable
    assert str(found["BF16"].dtype) == "bfloat16"
    assert found["F8_E4M3"].dtype == np.uint8


def test_weights_go_into_a_function(tmp_path: Path) -> None:
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = written(tmp_path / "w.safetensors", {"w": tensor("F32", [2, 3], 0, 24)}, w.tobytes())

    @vt.function
    def layer(x: vt.Tensor, params: dict[str, vt.Tensor]) -> Any:
        return x @ params["w"]

    found = layer(np.ones((1, 2), np.float32), nn.load_weights(path), backend="cpu")
    assert found.tolist() == [[3.0, 5.0, 7.0]]


GOOD = {"w": tensor("F32", [2], 0, 8)}


@pytest.mark.parametrize(
    ("header", "data", "length"),
    [
        (GOOD, b"", None),
        (GOOD, bytes(7), None),
        (GOOD, bytes(9), None),
        (GOOD, bytes(8), 1 << 62),
        (GOOD, bytes(8), 3),
        (b"not json", bytes(8), None),
        ({"w": tensor("F32", [3], 0, 8)}, bytes(8), None),
        ({"w": tensor("F32", [2], 4, 12)}, bytes(12), None),
        ({"w": tensor("F32", [2], 8, 0)}, bytes(8), None),
        ({"w": tensor("F32", [1 << 62, 8], 0, 8)}, bytes(8), None),
        ({"v": tensor("F32", [2], 0, 8), "w": tensor("F32", [2], 4, 12)}, bytes(12), None),
        ({"w": {"dtype": "F32", "shape": [2]}}, bytes(8), None),
        ({"w": tensor("NAME", [2], 0, 8)}, bytes(8), None),
    ],
)
def test_a_file_that_lies_is_refused(tmp_path: Path, header: Any, data: bytes, length: int | None) -> None:
    path = written(tmp_path / "bad.safetensors", header, data, length=length)
    with pytest.raises(VyreError, match="not a sound safetensors file") as error:
        nn.load_weights(path)
    assert error.value.fix


def test_short_files_none_and_types_that_we_do_not_have(tmp_path: Path) -> None:
    for content in (b"", b"\1", bytes(8)):
        path = tmp_path / "short.safetensors"
        path.write_bytes(content)
        with pytest.raises(VyreError, match="not a sound safetensors file"):
            nn.load_weights(path)
    with pytest.raises(VyreError, match="cannot read"):
        nn.load_weights(tmp_path / "none.safetensors")
    path = written(tmp_path / "c.safetensors", {"w": tensor("U64", [1], 0, 8)}, bytes(8))
    with pytest.raises(VyreError, match="'w' holds U64, which no tensor of vyre does"):
        nn.load_weights(path)


@pytest.mark.parametrize(("package", "kind"), [("safetensors", "F32"), ("ml_dtypes", "BF16")])
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, kind: str
) -> None:
    size = 4 if kind == "F32" else 2
    path = written(tmp_path / "w.safetensors", {"w": tensor(kind, [1], 0, size)}, bytes(size))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(VyreError, match=rf"the package {package} is not installed.*vyre\[safetensors\]"):
        nn.load_weights(path)
