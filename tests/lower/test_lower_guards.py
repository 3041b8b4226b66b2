"""Bounds checks are left out where they are proved useless, and only there."""

from __future__ import annotations

import re

import pytest

from vyre.backends.execute import run_bytes
from vyre.conform.diff.differential import INTEGER_PROGRAMS, compare
from vyre.conform.generate.programs import generate_program
from vyre.errors import VyreError
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BufferDecl,
    BufLen,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Node,
    Program,
    Return,
    Store,
    Var,
    WorkgroupId,
)
from vyre.ir.walk import statements
from vyre.lower.guards import Guards
from vyre.lower.languages import lower
from vyre.lower.prepare import prepare
from vyre.obligations.check import Checker
from vyre.obligations.claims import BEFORE, Claim, Rule
from vyre.optimize.bounds import ProvenAccesses, accesses
from vyre.optimize.ranges import exactly

U32 = DataType.U32
I = InvocationId(0)  # noqa: E741
DATA = BufferDecl.read("data", 0, U32)
OUT = BufferDecl.read_write("out", 1, U32)
FEW = BufferDecl.read_write("few", 2, U32, count=8)
HALF = BufferDecl.read_write("half", 3, DataType.F16, count=4)
BOOL = BufferDecl.read_write("bool", 4, DataType.Bool, count=4)
TILE = BufferDecl.workgroup("tile", U32, 8)
BUFFERS = (DATA, OUT, FEW, HALF, BOOL, TILE)
LANGUAGES = ("llvm", "cuda", "opencl", "wgsl")

_GUARDED = re.compile(r"\b\w*(?:load|store)_\w+\(|%ok[.\d]* = icmp")


def program(*entry: Node) -> Program:
    return Program(BUFFERS, (8,), entry)


def guards(language: str, *entry: Node) -> int:
    """How many guarded accesses the text of the kernel itself makes."""
    text = lower(program(*entry), language).text
    if language == "llvm":
        text = text[text.index("_guarded(") : text.index("@vyre_main")]
    else:
        text = text[text.index("vyre_main(") :]
    return len(_GUARDED.findall(text))


def kept(*entry: Node) -> list[tuple[str, Expr]]:
    """The accesses that keep their check."""
    prepared = prepare(program(*entry))
    asked = Guards(prepared)
    return [
        (buffer, index)
        for _, node in statements(prepared.entry)
        for buffer, index in accesses(node)
        if asked.needed(node, buffer, index)
    ]


PROVED = {
    "a declared count": Store("few", I & 7, LitU32(1)),
    "a local id": Store("tile", LocalId(0), Load("few", LocalId(0))),
    "halves": Store("half", I % 4, Load("half", (I + 1) & 3)),
    "bools": Store("bool", I & 3, Load("bool", (I + 1) & 3)),
    "a loop over a length": Loop(
        "k", LitU32(0), BufLen("data"), (Store("few", I & 7, Load("data", Var("k"))),)
    ),
}
OPEN = {
    "one too many": Store("few", I & 8, LitU32(1)),
    "a sum": Store("few", (I & 7) + 1, LitU32(1)),
    "a loop to the length": Loop(
        "k", LitU32(0), BufLen("data") + 1, (Store("few", I & 7, Load("data", Var("k"))),)
    ),
    "another length": Loop("k", LitU32(0), BufLen("out"), (Store("few", I & 7, Load("data", Var("k"))),)),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PROVED)
def test_a_proved_access_has_no_guard(language: str, name: str) -> None:
    assert guards(language, PROVED[name]) == 0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", OPEN)
def test_an_access_that_is_not_proved_has_one(language: str, name: str) -> None:
    assert guards(language, OPEN[name]) == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("op", list(AtomicOp))
def test_atomics_lose_their_guard_too(language: str, op: AtomicOp) -> None:
    expected = LitU32(3) if op is AtomicOp.CompareExchange else None

    def text(index: Expr) -> str:
        update = Atomic(op, "few", index, LitU32(5), expected)
        return lower(Program([FEW], (8,), [Let("old", update)]), language).text

    guarded = {"llvm": "%ok = icmp", "wgsl": "i < 8u", "cuda": "i < n", "opencl": "i < n"}[language]
    assert guarded not in text(I & 7)
    assert guarded in text(I)


def test_wgsl_prints_only_the_functions_it_calls() -> None:
    text = lower(program(Store("few", I & 7, Load("data", I))), "wgsl").text
    assert "fn put_few(" in text
    assert "fn load_data(" in text
    assert not re.search(r"fn (store_few|get_data|load_out|store_out)\(", text)


SPREAD = WorkgroupId(0) * 32 + LocalId(0)


def copied(condition: Expr, index: Expr) -> tuple[Node, ...]:
    """A copy of one element behind a condition; `i + 24` does not wrap."""
    return (Let("i", SPREAD), If(condition, (Store("out", index, Load("data", index)),)))


def below(index: Expr) -> Expr:
    return (BufLen("data") > index).and_(BufLen("out") > index)


@pytest.mark.parametrize("language", ["cuda", "opencl"])
def test_a_number_that_is_added_to_an_index_goes_into_the_address(language: str) -> None:
    i = Var("i")
    text = lower(program(*copied(below(i + 24), i + 8)), language).text
    assert "(b_out + v_i)[8u] = (b_data + v_i)[8u];" in text


@pytest.mark.parametrize("language", ["cuda", "opencl"])
@pytest.mark.parametrize(
    ("index", "printed"),
    [
        (I + 8, "invocation_x + 8u"),
        (Var("i") + 32, "v_i + 32u"),
        (Var("i") + 0xFFFFFFFF, "v_i + 4294967295u"),
    ],
)
def test_a_sum_that_may_wrap_stays_an_index(language: str, index: Expr, printed: str) -> None:
    """It is in bounds all the same: that is what was compared."""
    text = lower(program(*copied(below(index), index)), language).text
    assert f"b_out[({printed})] = b_data[({printed})];" in text


def test_what_is_not_proved_is_not_split() -> None:
    text = lower(program(*copied(BufLen("data") > Var("i") + 24, Var("i") + 8)), "cuda").text
    assert "store_1(b_out, len_out, (v_i + 8u), (b_data + v_i)[8u])" in text


@pytest.mark.parametrize(
    ("buffer", "printed"),
    [("half", "((u32)(b_half + v_k)[2u])"), ("bool", "((u32)((b_bool + v_k)[2u] != 0u))")],
)
def test_elements_of_all_widths_have_addresses(buffer: str, printed: str) -> None:
    value = Load(buffer, Var("k") + 2)
    loop = Loop("k", LitU32(0), LitU32(2), (Store(buffer, Var("k") + 1, value),))
    text = lower(program(loop), "cuda").text
    assert printed in text
    assert f"(b_{buffer} + v_k)[1u] = " in text


def test_an_index_is_split_only_where_it_adds_up_everywhere() -> None:
    i = Var("i")
    store = Store("out", i + 8, LitU32(1))
    inside = If(BufLen("out") > i + 24, (store,))
    other = If(BufLen("out") > i + 8, (store,))
    sure = prepare(program(Let("i", SPREAD), inside))
    assert Guards(sure).offset(store, "out", i + 8) == (i, 8)
    assert Guards(sure).offset(None, "out", i + 8) == (i + 8, 0)
    both = prepare(program(Let("i", I), If(BufLen("few") > i, (inside,)), other))
    assert not Guards(both).needed(store, "out", i + 8)
    assert Guards(both).offset(store, "out", i + 8) == (i + 8, 0)


def test_a_statement_that_stands_twice_is_proved_only_where_both_are() -> None:
    store = Store("out", I, LitU32(1))
    inside = If(BufLen("out") > I, (store,))
    assert kept(inside) == []
    assert kept(inside, store) == [("out", I), ("out", I)]


def test_what_the_workgroup_does_once_keeps_its_guard() -> None:
    """The load is uniform and moves before the return that proves it."""
    source = lower(
        program(
            If(WorkgroupId(0) >= BufLen("data"), (Return(),)),
            Let("x", Load("data", WorkgroupId(0))),
            Store("tile", LocalId(0), Var("x")),
            Barrier(),
            Store("out", I, Load("tile", LocalId(0)) + Var("x")),
        ),
        "llvm",
    )
    guarded = source.text[source.text.index("_guarded(") : source.text.index("@vyre_main")]
    assert re.search(r"icmp ult i32 \S+, %len_data", guarded)


def test_generated_programs_agree_with_the_reference() -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    from vyre.backends.cpu.backend import CpuBackend

    backend = CpuBackend(threads=1)
    for seed in range(3100, 3140):
        mismatch = compare(generate_program(seed, INTEGER_PROGRAMS), backend)
        assert mismatch is None, str(mismatch)


def test_a_wrong_proof_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With everything taken for proved the checks stay; the control: without the checker, the guard bytes
    around a buffer are hit."""
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    from vyre.backends.cpu.backend import CpuBackend

    wrong = Program([OUT], (8,), (Store("out", (I & 7) + 4, LitU32(1)),))
    expected = bytes(16) + b"\1\0\0\0" * 4

    def everything(entry: tuple[Node, ...], *_: object, **__: object) -> ProvenAccesses:
        pairs = [(i, *a) for i, (_, node) in enumerate(statements(entry)) for a in accesses(node)]
        claims = {key: Claim(key[2], (key[0], BEFORE), exactly(0), Rule.NODE) for key in pairs}
        return ProvenAccesses(claims, len(pairs))

    monkeypatch.setattr("vyre.lower.guards.proven_accesses", everything)
    right = run_bytes(CpuBackend(threads=1).compile(wrong), wrong, {"out": bytes(4 * 8)}, (1, 1, 1))
    assert right["out"] == expected

    def trusting(*_: object) -> bool:
        return True

    monkeypatch.setattr(Checker, "inside", trusting)
    with pytest.raises(VyreError, match="wrote outside of the buffer 'out'"):
        run_bytes(CpuBackend(threads=1).compile(wrong), wrong, {"out": bytes(4 * 8)}, (1, 1, 1))


def test_a_loaded_value_that_is_compared_and_trusted_is_frozen() -> None:
    """Memory may change under a kernel; the value that was compared is the one that is used."""
    loaded = Let("v", Load("data", LitU32(3)))
    compared = If(Var("v") < BufLen("out"), (Store("out", Var("v"), LitU32(1)),))
    assert "freeze i32" in lower(program(loaded, compared), "llvm").text
    assert kept(loaded, compared) == [("data", LitU32(3))]
    twice = If(Load("data", LitU32(3)) < BufLen("out"), (Store("out", Load("data", LitU32(3)), LitU32(1)),))
    assert ("out", Load("data", LitU32(3))) in kept(twice)
    masked = Store("few", Load("data", LitU32(3)) & 7, LitU32(1))
    assert "freeze" not in lower(program(masked), "llvm").text


def test_what_is_computed_from_frozen_values_alone_is_not_frozen_again() -> None:
    """LLVM asks of each frozen value again and again whether it need be, which is a quarter of its time in
    long kernels."""

    def frozen(*entry: Node) -> int:
        text = lower(program(*entry), "llvm").text
        start = text.index("_guarded(")
        return text[start : text.index("\n}", start)].count("freeze i32")

    trusted = If(Var("v") < BufLen("out"), (Store("out", Var("v"), LitU32(1)),))
    loaded = Let("v", Load("data", LitU32(3)))
    turned = Assign("v", Var("v") * 5 + 1)
    assert frozen(loaded, turned, turned, trusted) == 1
    assert frozen(loaded, turned, Assign("v", Var("v") ^ Load("data", LitU32(4))), trusted) == 2
    counted = Loop("k", Load("data", LitU32(5)), LitU32(9), (Assign("v", Var("k")), trusted))
    assert frozen(loaded, counted) == 2
