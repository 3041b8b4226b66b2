"""Nothing is registered but through the gates: ours, and the specs of a stranger's package."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conform.registry import importing_module
from tests.conform.registry.stranger_definitions import (
    add,
    asking,
    bare,
    by_itself,
    fraction,
    nothing,
    of_nothing_known,
    of_one,
    plain,
    raising,
    too_wide,
    two_faced,
    unregistered,
    wavering,
)
from vyre.compose.registry import Registry, default_registry
from vyre.conform import registry
from vyre.conform.registry import own_specs, seen, spec, specs, vanishing
from vyre.conform.registry.admission import admitted
from vyre.conform.spec import independence
from vyre.conform.spec.law import Commutative, Custom
from vyre.conform.spec.op import Alternate, ExpressionForm, OpSpec
from vyre.errors import OpError
from vyre.ir.expr import Call, Var
from vyre.ir.node import Let
from vyre.ir.op import Op, Param
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[2] / "plugin_package"
U32 = DataType.U32
OFFERED: list[OpSpec] = []
"""What the package of the tests offers, while one of them runs."""


ADD = replace(spec("primitive.math.add"), id="stranger.add", cpu_fn=add, form=ExpressionForm(plain))


def write_metadata(folder: Path, name: str, groups: dict[str, dict[str, str]]) -> None:
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines: list[str] = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def fresh() -> Iterator[None]:
    """Registries are built anew, before and after."""
    for built in (registry._by_id, default_registry):
        built.cache_clear()
    yield
    for built in (registry._by_id, default_registry):
        built.cache_clear()
    OFFERED.clear()


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    """A package whose specs are in `OFFERED`."""
    write_metadata(tmp_path, "stranger", {"vyre.specs": {"all": "stranger_specs:offered"}})
    (tmp_path / "stranger_specs.py").write_text(
        f"from {__name__} import OFFERED\n\n\ndef offered():\n    return list(OFFERED)\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "stranger_specs", raising=False)


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    """The plugin package, installed as its own pyproject says."""
    project: dict[str, Any] = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    write_metadata(tmp_path, project["name"], project["entry-points"])
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(PACKAGE), *sys.path])


def refused(wrong: OpSpec) -> OpError:
    OFFERED[:] = [wrong]
    with pytest.raises(OpError) as error:
        specs()
    assert error.value.message.count("the package stranger cannot be used") == 1
    assert "uninstall stranger" in error.value.fix
    assert wrong.id in error.value.message
    return error.value


GATES: dict[str, OpSpec] = {
    "gate 1 (category)": replace(ADD, category="B"),
    "gate 2 (signature)": replace(ADD, signature=OpSignature((U32, U32), DataType.U64)),
    "gate 3 (zero overhead): its call of stranger.nowhere": replace(ADD, form=ExpressionForm(unregistered)),
    "gate 3 (zero overhead): its call leaves something": replace(ADD, form=ExpressionForm(two_faced)),
    "gate 3 (zero overhead): a Category C": replace(ADD, category="C"),
    "gate 4 (deterministic)": replace(ADD, cpu_fn=wavering),
    "gate 5 (observable)": replace(ADD, cpu_fn=nothing),
    "gate 6 (rules)": replace(ADD, laws=(), properties=(), classes=(), boundaries=(), alternates=()),
}


@pytest.mark.usefixtures("stranger")
@pytest.mark.parametrize("gate", GATES)
def test_each_gate_turns_a_package_away(gate: str) -> None:
    assert gate in refused(GATES[gate]).message


@pytest.mark.usefixtures("stranger")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (replace(ADD, cpu_fn=importing_module.add), "importing_module -> vyre.numeric.soft"),
        (replace(ADD, laws=(Custom("says nothing", by_itself),)), "the two sides of"),
        (replace(ADD, alternates=(Alternate("same", plain),)), "the op's own expression"),
    ],
)
def test_the_independence_gate_turns_a_package_away(wrong: OpSpec, why: str) -> None:
    found = refused(wrong)
    assert "rejected by the independence gate" in found.message
    assert why in found.message


@pytest.mark.usefixtures("stranger")
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (replace(ADD, cpu_fn=fraction), "gives 1.5 for"),
        (replace(ADD, cpu_fn=too_wide), "which is not a word of 32 bits"),
        (replace(ADD, boundaries=((1 << 40,), (0,))), "the boundary 0x10000000000"),
        (replace(ADD, boundaries=((0,), (-1,))), "the boundary -0x1"),
        (replace(ADD, cpu_fn=bare), "gives 5, which is outside its domain"),
        (replace(ADD, cpu_fn=asking), "of unknown operands its definition raises TypeError"),
        (replace(ADD, laws=(Commutative,)), "Commutative'>, which is not a law"),  # pyright: ignore[reportArgumentType]
        (replace(ADD, laws=("Commutative",)), "'Commutative', which is not a law"),  # pyright: ignore[reportArgumentType]
        (replace(ADD, laws=(Custom("mine", raising),)), "its law 'mine' raises KeyError"),
        (replace(ADD, laws=(Custom("mine", of_one),)), "applies stranger.add to 1 operand, and it takes 2"),
        (
            replace(ADD, laws=(Custom("mine", of_nothing_known),)),
            "applies stranger.nowhere, which has no spec",
        ),
    ],
)
def test_what_no_proof_could_follow_is_turned_away(wrong: OpSpec, why: str) -> None:
    assert why in refused(wrong).message


def test_a_package_whose_ops_are_broken_is_named_and_none_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    write_metadata(tmp_path, "stranger", {"vyre.ops": {"all": "nowhere_to_be_found:OPS"}})
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(OpError) as error:
        admitted([ADD])
    assert error.value.message.startswith("the ops of the package stranger cannot be loaded")
    assert "rejected" not in str(error.value)


def test_a_lowering_that_is_reached_unseen_is_seen_at_work() -> None:
    hidden = importing_module.add

    def calling(d: Any, a: Any, b: Any) -> Any:
        return hidden(d, a, b)

    found = independence.check_spec(replace(ADD, cpu_fn=calling))
    assert any(v.by == "call" and "of what it judges" in v.way for v in found)


@pytest.mark.usefixtures("stranger")
def test_a_right_spec_of_a_package_is_registered_behind_ours() -> None:
    OFFERED[:] = [ADD]
    assert specs()[:-1] == own_specs()
    assert spec("stranger.add") is ADD


@pytest.mark.usefixtures("stranger")
def test_an_id_is_given_once() -> None:
    OFFERED[:] = [replace(ADD, id="primitive.math.add")]
    with pytest.raises(OpError, match=r"primitive\.math\.add has a spec already"):
        specs()


@pytest.mark.usefixtures("stranger")
def test_what_is_no_spec_is_an_error() -> None:
    OFFERED[:] = [7]  # pyright: ignore[reportCallIssue, reportArgumentType] - that is the mistake
    with pytest.raises(OpError, match="which is not an OpSpec"):
        specs()


@pytest.mark.usefixtures("acme")
def test_the_spec_of_a_plugin_is_certified_with_the_rest(tmp_path: Path) -> None:
    from dataclasses import asdict

    from vyre.backends.cpu.backend import CpuBackend
    from vyre.conform.records.journal import Journal
    from vyre.conform.suite.run import Suite, make_plan

    plan = make_plan("cpu", ops=("acme.mix",), stages=("ops",), cases=4096)
    journal = Journal(tmp_path / "journal.jsonl", {"plan": asdict(plan)}, resume=False)
    (result,) = Suite(plan, CpuBackend(threads=1), journal).run().results.ops
    assert (result.id, result.status) == ("acme.mix", "passed")
    assert sum(c.cases for c in result.parity) > 4096


def test_ours_are_registered_through_the_same_door(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(spec("primitive.math.add"), category="B")
    monkeypatch.setattr("vyre.conform.registry.primitive.add.SPEC", wrong)
    own_specs.cache_clear()
    try:
        with pytest.raises(OpError, match=r"primitive\.math\.add is rejected by gate 1 \(category\)"):
            own_specs()
    finally:
        monkeypatch.undo()
        own_specs.cache_clear()


def test_a_composition_of_calls_with_statements_vanishes() -> None:
    x = Var("x")
    inner = Op("acme.twice", (Param("x", U32),), U32, Var("t") * 3, body=(Let("t", x + x),))
    outer = Op("acme.outer", (Param("x", U32),), U32, Call("acme.twice", (Call("acme.twice", (x ^ 1,)),)))
    built = ExpressionForm(lambda o: Call("acme.outer", (o[0],)) + Call("acme.twice", (o[1],)))
    made = replace(ADD, form=built)
    assert vanishing.overhead([made], library=Registry([inner, outer])) is None


def test_the_culprit_is_found_among_many() -> None:
    wrong = replace(ADD, form=ExpressionForm(two_faced))
    rest = list(own_specs()[:6])
    found = vanishing.overhead([*rest[:4], wrong, *rest[4:]])
    assert found is not None
    assert found[0] is wrong


def test_names_alone_make_no_difference() -> None:
    same = vanishing._numbered
    assert same("let x = a + b;") == same("let y = c + d;")
    assert same("let x = a + b;") != same("let x = a + a;")
    assert same("let x = a + b;") != same("let x = a - b;")


def test_gate_3_asks_all_four_languages_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    right = vanishing._text

    def watched(program: Any, language: str, library: Any) -> Any:
        asked.append(language)
        return right(program, language, library)

    monkeypatch.setattr(vanishing, "_text", watched)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert vanishing.overhead([ADD]) is None
    assert asked == [name for name in ("llvm", "wgsl", "cuda", "opencl") for _ in range(2)]
    assert vanishing.overhead([ADD]) is None
    assert len(asked) == 8
    folder = seen.folder()
    assert folder is not None
    (entry,) = (path for path in folder.rglob("*") if path.is_file())
    entry.write_text(entry.read_text() + "tampered")
    assert vanishing.overhead([ADD]) is None
    assert len(asked) == 16
