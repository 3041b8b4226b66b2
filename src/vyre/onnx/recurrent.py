"""RNN, GRU and LSTM over a static number of steps, each step written out; float nodes as everywhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre import nn
from vyre.onnx.values import HostArray
from vyre.tensor import elementwise as e
from vyre.tensor import shaping as s
from vyre.tensor.create import full_like
from vyre.tensor.products import matmul

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.onnx.values import OnnxNode
    from vyre.tensor.tensor import Tensor

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


State = tuple["Tensor", ...]


def _direction(ctx: OnnxNode, x: Tensor, number: int, *, back: bool) -> _Layer:
    weight, recurrent = ctx.tensor(1)[number], ctx.tensor(2)[number]
    own = hidden = None
    if ctx.given(3):
        own, hidden = s.split(ctx.tensor(3)[number], 2)
    projected = matmul(x, s.transpose(weight))
    count = len(x)
    steps = [projected[i] for i in (range(count)[::-1] if back else range(count))]
    peepholes = ctx.tensor(7)[number] if ctx.given(7) else None
    return _Layer(steps, s.transpose(recurrent), own, hidden, peepholes)


def _plus(x: Tensor, *more: Tensor | None) -> Tensor:
    for part in more:
        x = x if part is None else x + part
    return x


def _lstm(layer: _Layer, x: Tensor, state: State) -> State:
    hidden, cell = state
    gates = _plus(x + matmul(hidden, layer.recurrent), layer.own_bias, layer.hidden_bias)
    i, o, f, c = s.split(gates, 4, -1)
    holes = None if layer.peepholes is None else s.split(layer.peepholes, 3)
    if holes is not None:
        i, f = i + holes[0] * cell, f + holes[2] * cell
    cell = nn.sigmoid(f) * cell + nn.sigmoid(i) * e.tanh(c)
    if holes is not None:
        o = o + holes[1] * cell
    return nn.sigmoid(o) * e.tanh(cell), cell


def _gru(layer: _Layer, x: Tensor, state: State, *, linear_first: bool) -> State:
    (hidden,) = state
    thirds = [None] * 3 if layer.hidden_bias is None else s.split(layer.hidden_bias, 3)
    own = _plus(x, layer.own_bias)
    xz, xr, xh = s.split(own, 3, -1)
    rz, rr, rh = s.split(layer.recurrent, 3, -1)
    z = nn.sigmoid(_plus(xz + matmul(hidden, rz), thirds[0]))
    r = nn.sigmoid(_plus(xr + matmul(hidden, rr), thirds[1]))
    if linear_first:
        new = e.tanh(xh + r * _plus(matmul(hidden, rh), thirds[2]))
    else:
        new = e.tanh(_plus(xh + matmul(r * hidden, rh), thirds[2]))
    return ((1.0 - z) * new + z * hidden,)


def _rnn(layer: _Layer, x: Tensor, state: State) -> State:
    return (e.tanh(_plus(x + matmul(state[0], layer.recurrent), layer.own_bias, layer.hidden_bias)),)


_USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def _checked(ctx: OnnxNode, x: Tensor, both: bool) -> None:
    given = [a.decode() if isinstance(a, bytes) else a for a in ctx.attribute("activations") or ()]
    if given and given != _USUAL[ctx.op] * (2 if both else 1):
        raise ctx.refuse(
            f"the activations {', '.join(given)} are not imported", "use those that the op has by default."
        )
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
        both, batch_first = way == "bidirectional", bool(ctx.attribute("layout", 0))
        x = s.swapaxes(ctx.tensor(0), 0, 1) if batch_first else ctx.tensor(0)
        _checked(ctx, x, both)
        rows, width = x.type.shape[1], ctx.tensor(2).type.shape[-1]
        outputs: list[Tensor] = []
        finals: list[State] = []
        for number, back in enumerate([False, True] if both else [way == "reverse"]):
            layer = _direction(ctx, x, number, back=back)
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
