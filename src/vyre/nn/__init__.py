"""`vyre.nn`: networks as compositions of tensors. Inference only; every formula is fixed (decision 31)."""

from typing import TYPE_CHECKING, Any

from vyre.nn.absent import absent
from vyre.nn.activations import gelu, log_softmax, relu, sigmoid, silu, softmax, tanh
from vyre.nn.attention import attention, merge_heads, repeat_heads, rotary, split_heads
from vyre.nn.choosing import cross_entropy, embedding, sample, top_k
from vyre.nn.convolution import conv, conv_transpose
from vyre.nn.linear import linear
from vyre.nn.norms import batch_norm, layer_norm, rms_norm
from vyre.nn.pooling import average_pool, max_pool
from vyre.nn.quantised import fp8_decode, fp8_encode, fp8_matmul, nf4_decode, nf4_encode, nf4_matmul
from vyre.nn.stored import load_weights

__all__ = [
    "attention",
    "average_pool",
    "batch_norm",
    "conv",
    "conv_transpose",
    "cross_entropy",
    "embedding",
    "fp8_decode",
    "fp8_encode",
    "fp8_matmul",
    "gelu",
    "layer_norm",
    "linear",
    "load_weights",
    "log_softmax",
    "max_pool",
    "merge_heads",
    "nf4_decode",
    "nf4_encode",
    "nf4_matmul",
    "relu",
    "repeat_heads",
    "rms_norm",
    "rotary",
    "sample",
    "sigmoid",
    "silu",
    "softmax",
    "split_heads",
    "tanh",
    "top_k",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent(name)
