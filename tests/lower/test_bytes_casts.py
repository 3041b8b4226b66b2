"""A cast from Bytes to Bytes is the identity: it costs nothing in any language and changes no byte."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre.backends import get
from vyre.errors import InterpreterError, ValidationError
from vyre.ir import BufferDecl, Cast, DataType, LitU32, Program, Store
from vyre.lower.languages import LANGUAGES
from vyre.lower.prepare import prepare
from vyre.optimize import optimize
from vyre.reference.compile import compile_program
from vyre.text import parse_program
from vyre.wire import decode, encode

HEADER = """\
vyre 1
workgroup 4 1 1
buffer data: readwrite Bytes @0
buffer out: readwrite Bytes @1
buffer count: readwrite U32 @2
entry {
  let i = invocation.x
"""
PLAIN = parse_program(HEADER + "  out[i] = data[i] + atomic_add(count[0], data[i + 1])\n}")
CAST = parse_program(
    HEADER
    + "  out[i] = cast<Bytes>(cast<Bytes>(data[i])) + atomic_add(count[0], cast<Bytes>(data[i + 1]))\n}"
)
WORDS = np.array([0x04030201, 0xFFFFFFFF, 0x80000000, 0x7FA00001], np.uint32)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_cast_leaves_no_trace_in_the_source(language: str) -> None:
    emit = LANGUAGES[language].emit
    assert emit(prepare(CAST)).text == emit(prepare(PLAIN)).text


def test_the_optimiser_drops_it_and_the_wire_form_keeps_it() -> None:
    assert optimize(CAST) == optimize(PLAIN)
    assert decode(encode(CAST)) == CAST
    assert CAST != PLAIN


@pytest.mark.parametrize("backend", ["reference", "cpu", "wgpu", "dawn", "opencl"])
def test_bytes_cast_to_bytes_are_the_same_bytes(backend: str) -> None:
    try:
        loaded = get(backend)
    except (ImportError, vyre.VyreError) as error:
        pytest.skip(f"{backend}: {error}")
    program = parse_program(HEADER + "  out[i] = cast<Bytes>(data[i])\n}")
    arrays = {
        "data": WORDS.view(np.uint8).copy(),
        "out": np.zeros(16, np.uint8),
        "count": np.zeros(1, np.uint32),
    }
    found = vyre.dispatch(program, arrays, backend=loaded)
    assert found["out"].tobytes() == WORDS.tobytes()


def test_a_kernel_may_say_it() -> None:
    @vyre.kernel
    def copied(data: vyre.In[vyre.packed_bytes], out: vyre.Out[vyre.packed_bytes]) -> None:
        i = vyre.invocation_id(0)
        out[i] = vyre.cast(data[i], vyre.packed_bytes)

    found = vyre.dispatch(copied.program, {"data": b"abcdefgh", "out": np.zeros(8, np.uint8)}, backend="cpu")
    assert found["out"].tobytes() == b"abcdefgh"


def test_a_kernel_may_not_make_bytes_of_a_number() -> None:
    def made(data: vyre.In[vyre.packed_bytes], out: vyre.Out[vyre.packed_bytes]) -> None:
        i = vyre.invocation_id(0)
        out[i] = vyre.cast(data[i] + 1, vyre.packed_bytes)

    with pytest.raises(ValidationError, match="V023: cast to Bytes is unsupported in WGSL lowering"):
        vyre.kernel(made)


def test_the_reference_refuses_what_no_buffer_of_bytes_holds() -> None:
    out = BufferDecl.read_write("out", 0, DataType.U32, count=1)
    program = Program([out], (1,), [Store("out", LitU32(0), Cast(DataType.Bytes, out[0]))])
    with pytest.raises(InterpreterError, match="has no meaning over U32"):
        compile_program(program, {"out": 1}, None)
