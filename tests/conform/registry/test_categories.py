"""The share of Category A is that of the whole registry, hardware instructions included."""

from __future__ import annotations

from collections import Counter

from click.testing import CliRunner

from vyre.cli import main
from vyre.compose import default_registry
from vyre.conform.registry import specs
from vyre.conform.registry.categories import Categories, categories
from vyre.ops import standard_ops
from vyre.ops.intrinsics import intrinsic_ops


def test_every_op_and_every_spec_is_counted_once() -> None:
    found = categories()
    ids = {op.id for op in default_registry()} | {spec.id for spec in specs()}
    assert found.total == len(ids)
    assert found.hardware == len(intrinsic_ops()) > 0
    assert found.composed == len(ids) - len(intrinsic_ops())


def test_leaving_hardware_out_shows() -> None:
    assert categories(standard_ops()).share == 1.0 > categories().share


def test_the_widths_of_one_instruction_are_told_from_instructions() -> None:
    units = Counter(op.hardware.partition(".")[0] for op in intrinsic_ops())
    widths = sum(unit.startswith("subgroup") for unit in units)
    exchanges = units.pop("subgroup32")
    assert categories().hardware == widths * exchanges + units["packed"] + units["mma_f64"] + units["mma_s8"]
    assert categories().instructions == exchanges + units["packed"] + units["mma_f64"] // 4 + units["mma_s8"]


def test_the_sentence_says_the_share_of_both_counts() -> None:
    one, several = str(Categories(90, 10, 10)), str(Categories(95, 20, 5))
    assert "90.0%" in one
    assert "90 of 100 ops" in one
    assert "counted once" not in one
    assert all(part in several for part in ("82.6%", "95 of 115 ops", "5 hardware", "95.0%"))


def test_the_listing_of_ops_ends_with_it() -> None:
    assert str(categories()) in CliRunner().invoke(main, ["ops"]).output
    part = CliRunner().invoke(main, ["ops", "intrinsic.subgroup32"]).output
    assert part.endswith("ops, 0 of Category A (0.0%).\n")
