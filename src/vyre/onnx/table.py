"""The list of ops that are imported, each with the function that puts it into the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.onnx import (
    attention,
    choosing,
    elements,
    joins,
    layers,
    quantized,
    recurrent,
    resize,
    sampling,
    sequences,
    shapes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.onnx.values import OnnxNode

    Handler = Callable[[OnnxNode], Any]

FIRST_OPSET, LAST_OPSET = 7, 28
"""Versions of the default operator set whose meaning was read; others are refused."""

HANDLERS: Mapping[str, Handler] = {
    **elements.HANDLERS,
    **shapes.HANDLERS,
    **joins.HANDLERS,
    **layers.HANDLERS,
    **choosing.HANDLERS,
    **attention.HANDLERS,
    **quantized.HANDLERS,
    **recurrent.HANDLERS,
    **resize.HANDLERS,
    **sampling.HANDLERS,
    **sequences.HANDLERS,
}
OPS = tuple(sorted(HANDLERS))
"""The names of all ops that can be imported."""
