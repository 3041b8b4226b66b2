"""RNN, GRU and LSTM over a static number of steps, each step written out; float nodes as everywhere else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import nn
from vyre.graph.types import ValueType
from vyre.ir.types import DataType
from vyre.onnx.layers import REPAIR, hard_sigmoid, leaky_relu, softplus, softsign
from vyre.onnx.values import HostArray
from vyre.tensor import elementwise as e
from vyre.tensor import shaping as s
from vyre.tensor.create import full_like
from vyre.tensor.indexing import take
from vyre.tensor.products import matmul
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.onnx.values import OnnxNode

    Function = Callable[[Tensor], Tensor]

LONGEST = 256
"""Steps that are written out; a graph of more would be larger than any program should be."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """One direction: the input at each step times its weights, and what each step needs."""

    steps: list[Tensor]
    recurrent: Tensor
    own_bias: Tensor | None
    hidden_bias: Tensor | None
    peepholes: Tensor | None
    functions: list[Function]


State = tuple["Tensor", ...]


def _places(ctx: OnnxNode, count: int) -> list[Tensor]:
    """The numbers of the steps, as inputs that the model brings along: so all steps share their kernels."""
    made: list[Tensor] = []
    for place in range(count):
        name = ctx.builder.fresh("step")
        ctx.weights[name] = np.array([place], np.int32)
        held = Tensor(ctx.builder, ctx.builder.input(name, ValueType(DataType.I32, (1,))))
        made.append(s.reshape(held, ()))
    return made


def _direction(
    ctx: OnnxNode, x: Tensor, places: list[Tensor], number: int, functions: list[Function]
) -> _Layer:
    weight, recurrent = ctx.tensor(1)[number], ctx.tensor(2)[number]
    own = hidden = None
    if ctx.given(3):
        own, hidden = s.split(ctx.tensor(3)[number], 2)
    projected = matmul(x, s.transpose(weight))
    steps = [take(projected, place, 0) for place in places]
    peepholes = ctx.tensor(7)[number] if ctx.given(7) else None
    return _Layer(steps, s.transpose(recurrent), own, hidden, peepholes, functions)


def _plus(x: Tensor, *more: Tensor | None) -> Tensor:
    for part in more:
        x = x if part is None else x + part
    return x


def _lstm(layer: _Layer, x: Tensor, state: State) -> State:
    hidden, cell = state
    gate, inner, outer = layer.functions
    gates = _plus(x + matmul(hidden, layer.recurrent), layer.own_bias, layer.hidden_bias)
    i, o, f, c = s.split(gates, 4, -1)
    holes = None if layer.peepholes is None else s.split(layer.peepholes, 3)
    if holes is not None:
        i, f = i + holes[0] * cell, f + holes[2] * cell
    cell = gate(f) * cell + gate(i) * inner(c)
    if holes is not None:
        o = o + holes[1] * cell
    return gate(o) * outer(cell), cell


def _gru(layer: _Layer, x: Tensor, state: State, *, linear_first: bool) -> State:
    (hidden,) = state
    gate, inner = layer.functions
    thirds = [None] * 3 if layer.hidden_bias is None else s.split(layer.hidden_bias, 3)
    own = _plus(x, layer.own_bias)
    xz, xr, xh = s.split(own, 3, -1)
    rz, rr, rh = s.split(layer.recurrent, 3, -1)
    z = gate(_plus(xz + matmul(hidden, rz), thirds[0]))
    r = gate(_plus(xr + matmul(hidden, rr), thirds[1]))
    if linear_first:
        new = inner(xh + r * _plus(matmul(hidden, rh), thirds[2]))
    else:
        new = inner(_plus(xh + matmul(r * hidden, rh), thirds[2]))
    return ((1.0 - z) * new + z * hidden,)


def _rnn(layer: _Layer, x: Tensor, state: State) -> State:
    (function,) = layer.functions
    return (function(_plus(x + matmul(state[0], layer.recurrent), layer.own_bias, layer.hidden_bias)),)


_USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
_PLAIN: dict[str, Function] = {
    "Relu": nn.relu,
    "Sigmoid": nn.sigmoid,
    "Softplus": softplus,
    "Softsign": softsign,
    "Tanh": e.tanh,
}


def _functions(ctx: OnnxNode, directions: int) -> list[list[Function]]:
    """The activations of each direction. Numbers for them are taken in the order of those that have any."""
    usual = _USUAL[ctx.op]
    names = ctx.attribute("activations") or usual * directions
    if len(names) != len(usual) * directions:
        what = f"{len(names)} activations for {directions} directions of {len(usual)}"
        raise ctx.refuse(what, "give as many as the op has.")
    alphas, betas = (iter(ctx.attribute(f"activation_{name}") or ()) for name in ("alpha", "beta"))
    made: list[Function] = []
    for given in names:
        name = given.decode() if isinstance(given, bytes) else given
        if name == "HardSigmoid":
            made.append(partial(hard_sigmoid, alpha=next(alphas, 0.2), beta=next(betas, 0.5)))
        elif name == "LeakyRelu":
            made.append(partial(leaky_relu, alpha=next(alphas, 0.01)))
        elif name in _PLAIN:
            made.append(_PLAIN[name])
        else:
            several = ", ".join(sorted([*_PLAIN, "HardSigmoid", "LeakyRelu"]))
            raise ctx.refuse(f"the activation {name!r} is not imported", f"use {several}.")
    return [made[i : i + len(usual)] for i in range(0, len(made), len(usual))]


def _checked(ctx: OnnxNode, x: Tensor) -> None:
    if ctx.attribute("clip") is not None or ctx.attribute("input_forget", 0):
        raise ctx.refuse("clip and input_forget are not imported")
    count = x.shape[0]
    if not isinstance(count, int) or count > LONGEST:
        raise ctx.refuse(
            f"{count} steps cannot be written out", f"export with a static length of at most {LONGEST}."
        )
    if ctx.given(4):
        lengths = ctx.inputs[4]
        if not isinstance(lengths, HostArray) or any(n != count for n in lengths.array.reshape(-1)):
            raise ctx.refuse(
                "rows of different lengths are not imported", "export the model without sequence_lens."
            )


def _recurrent(step: Callable[[_Layer, Tensor, State], State], states: int) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        way = ctx.attribute("direction", "forward")
        if way not in ("forward", "reverse", "bidirectional"):
            raise ctx.refuse(f"the direction is {way!r}", REPAIR)
        both, batch_first = way == "bidirectional", bool(ctx.attribute("layout", 0))
        x = s.swapaxes(ctx.tensor(0), 0, 1) if batch_first else ctx.tensor(0)
        _checked(ctx, x)
        functions = _functions(ctx, 2 if both else 1)
        places = _places(ctx, len(x))
        rows, width = x.type.shape[1], ctx.tensor(2).type.shape[-1]
        hidden, directions = ctx.attribute("hidden_size"), ctx.tensor(1).shape[0]
        if hidden not in (None, width.static):
            raise ctx.refuse(f"the hidden_size is {hidden}, and the weights have {width}", REPAIR)
        if directions != (2 if both else 1):
            what = f"the direction is {way!r}, and the weights {ctx.tensor(1).type} are for {directions}"
            raise ctx.refuse(what, REPAIR)
        outputs: list[Tensor] = []
        finals: list[State] = []
        for number, back in enumerate([False, True] if both else [way == "reverse"]):
            layer = _direction(ctx, x, places[::-1] if back else places, number, functions[number])
            state = tuple(_initial(ctx, 5 + i, number, x, (rows, width), batch_first) for i in range(states))
            made: list[Tensor] = []
            for projected in layer.steps:
                state = step(layer, projected, state)
                made.append(state[0])
            outputs.append(s.stack(made[::-1] if back else made))
            finals.append(state)
        whole = s.stack(outputs, 1)
        last = [s.stack([state[i] for state in finals]) for i in range(states)]
        if batch_first:
            whole, last = s.transpose(whole, (2, 0, 1, 3)), [s.swapaxes(part, 0, 1) for part in last]
        return [whole, *last]

    return handle


def _initial(ctx: OnnxNode, index: int, number: int, x: Tensor, shape: Any, batch_first: bool) -> Tensor:
    if not ctx.given(index):
        return full_like(x, shape, 0)
    given = ctx.tensor(index)
    return given[:, number] if batch_first else given[number]


def _gated(ctx: OnnxNode) -> Any:
    first = bool(ctx.attribute("linear_before_reset", 0))
    return _recurrent(lambda layer, x, state: _gru(layer, x, state, linear_first=first), 1)(ctx)


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "RNN": _recurrent(_rnn, 1),
    "GRU": _gated,
    "LSTM": _recurrent(_lstm, 2),
}
