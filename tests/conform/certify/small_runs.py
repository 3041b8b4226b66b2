"""Short runs on the processor, with faults to order, for the tests of certificates."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from tests import wrong
from tests.wrong.base import applies
from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.promises import registry_now
from vyre.conform.records.journal import Journal
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.run import Suite
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.suite.regressions import Store
    from vyre.ir.program import Program

DIV = "primitive.math.div"
FEW = ("value.lane.u64.0", DIV, "cast.u32.i32")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few cases of every kind, in blocks so short that shards share out a kind."""
    monkeypatch.setattr("vyre.conform.verify.cases.PER_CLASS", 4)
    monkeypatch.setattr("vyre.conform.verify.cases.SHAPED", 24)
    monkeypatch.setattr("vyre.conform.verify.cases.BOUNDARY_LIMIT", 1 << 11)
    monkeypatch.setattr("vyre.conform.suite.units.BLOCK", 16)


class Right(wrong.Posing):
    """`cpu` with no fault."""


class WrongDivision(wrong.Posing, wrong.DivisionByZero):
    """x / 0 is all ones."""


class WrongAddition(wrong.Posing, wrong.WrongAddition):
    """x + y is one too much."""


class Refusing(wrong.Refusing, wrong.Posing):
    """Does not divide."""

    name = "cpu"


class Raising(Right):
    """Raises on division when the third case of a dispatch divides by something odd and large."""

    def compile(self, program: Program) -> Any:
        inner = super().compile(program)
        return _Raising(inner) if applies(BinaryOp.Div, program) else inner


class _Raising:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def run(self, buffers: Any, workgroups: tuple[int, int, int]) -> None:
        words = memoryview(buffers["x1"]).cast("B").cast("I").tolist() if "x1" in buffers else []
        if any(w > 0x8000_0000 and w % 7 == 3 for w in words):
            raise ValueError("the divider is on fire")
        self.inner.run(buffers, workgroups)


def certified(
    backend: Any,
    folder: Path,
    *,
    ops: Sequence[str] = FEW,
    stages: Sequence[str] = ("regressions", "ops"),
    expected: Sequence[tuple[str, str]] = (),
    baselines: Sequence[str] = (),
    resume: bool = False,
    store: Store | None = None,
    soak: float = 0,
    **plan: Any,
) -> CertificateContents:
    """The certificate of a run with its journal below `folder`."""
    sizes: dict[str, Any] = {"cases": 40, "largest": 0, "programs": 2, **plan}
    made = make_plan(backend.name, ops=ops, stages=stages, store=store, **sizes)
    journal = Journal(folder / "journal.jsonl", {"plan": asdict(made)}, resume=resume)
    try:
        run = Suite(made, backend, journal, store=store, target="cpu", expected=expected, soak=soak).run()
    finally:
        journal.close()
    blocks = run.blocks if made.shard != (1, 1) else ()
    return certificates(run.results, promised=registry_now(), baselines=baselines, blocks=blocks)[0]


def shards(backend: Any, folder: Path, number: int, **options: Any) -> list[CertificateContents]:
    return [certified(backend, folder / str(i), shard=(i, number), **options) for i in range(1, number + 1)]
