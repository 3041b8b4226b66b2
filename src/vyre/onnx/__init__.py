"""`vyre.onnx`: models of the ONNX format as functions of arrays, with the same bytes on every backend.

    model = vyre.onnx.load("model.onnx")
    outputs = model({"input_ids": ids}, backend="cuda")

Needs the package `onnx` (`pip install vyre[onnx]`). What is not on the list of ops (`vyre.onnx.OPS`) is
refused by its name before anything runs.
"""

from vyre.onnx.model import OnnxModel, load
from vyre.onnx.table import OPS

__all__ = ["OPS", "OnnxModel", "load"]
