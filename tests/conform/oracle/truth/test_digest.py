"""The digest: one definition, two implementations, and no wrong result that leaves it unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conform.oracle.truth.device_only import DeviceOnly
from vyre.backends import get
from vyre.conform.oracle.digest import CHUNK, A, B, Mixer, combined, consecutive, digest, mixed
from vyre.conform.oracle.truth.functions import FUNCTIONS
from vyre.conform.oracle.truth.programs import evaluation, folding, mixing
from vyre.conform.oracle.truth.runner import Runner
from vyre.validate import check

MASK = 0xFFFF_FFFF


def plain(word: int, by: Mixer) -> int:
    """The mixer in plain integers, a third time."""
    for k, shift in enumerate(by.shifts):
        word ^= word >> shift
        if k < 2:
            word = word * by.factors[k] & MASK
    return word


def plain_digest(cases: list[tuple[int, int]]) -> int:
    first = sum(plain(r ^ plain(x, A), A) for x, r in cases) & MASK
    second = sum(plain((r + plain(x, B)) & MASK, B) for x, r in cases) & MASK
    return second << 32 | first


def test_the_definition_in_plain_integers() -> None:
    rng = np.random.default_rng(5)
    inputs, results = (rng.integers(0, 1 << 32, 1000, dtype=np.uint32) for _ in range(2))
    cases = list(zip(inputs.tolist(), results.tolist(), strict=True))
    assert digest(inputs, results) == plain_digest(cases)


def test_the_definition_never_changes() -> None:
    """Committed truths hang on it."""
    assert digest(consecutive(0, 4), np.array([1, 2, 3, 0xFFFF_FFFF], np.uint32)) == 0xC3F2_A111_A445_4911


@pytest.mark.parametrize("by", [A, B], ids=["A", "B"])
def test_mixers_are_bijections(by: Mixer) -> None:
    """Odd factors and shifts can be undone, so no two words of any set meet."""
    words = np.random.default_rng(1).permutation(1 << 16).astype(np.uint32) * np.uint32(4099)
    assert np.unique(mixed(words, by)).size == words.size
    assert all(factor % 2 for factor in by.factors)
    assert all(0 < shift < 32 for shift in by.shifts)


def test_one_wrong_result_changes_both_halves() -> None:
    rng = np.random.default_rng(2)
    inputs, results = (rng.integers(0, 1 << 32, 4096, dtype=np.uint32) for _ in range(2))
    right = digest(inputs, results)
    for k in range(64):
        wrong = results.copy()
        wrong[k] ^= np.uint32(1 << k % 32)
        found = digest(inputs, wrong)
        assert found >> 32 != right >> 32
        assert found & MASK != right & MASK


def test_swapped_results_are_seen() -> None:
    inputs = consecutive(0x3F80_0000, 2)
    one, two = np.array([7, 9], np.uint32), np.array([9, 7], np.uint32)
    assert digest(inputs, one) != digest(inputs, two)


def test_parts_add_up() -> None:
    inputs = consecutive(100, 1000)
    results = inputs * np.uint32(17)
    parts = [digest(inputs[a:b], results[a:b]) for a, b in ((0, 13), (13, 999), (999, 1000))]
    assert combined(parts) == digest(inputs, results)


def test_programs_are_valid() -> None:
    for program in (mixing(), folding(1 << 16), *(evaluation(f) for f in FUNCTIONS.values())):
        check(program)


@pytest.mark.parametrize("first", [0, 0x7FF0_0000, 0xFFE0_0000])
@pytest.mark.parametrize("backend", [get("cpu"), DeviceOnly()], ids=["host", "device"])
def test_a_device_computes_the_same_digests(backend: Any, first: int) -> None:
    """With results in memory of the host, and with results that never leave the device."""
    runner = Runner(backend, batch=2)
    runner.require_digests()
    runner.evaluate(FUNCTIONS["f32_to_bf16"], first, 2 * CHUNK)
    kept = runner.results(2 * CHUNK)
    found = runner.digests(first, 2)
    runner.close()
    inputs = consecutive(first, 2 * CHUNK)
    assert found == [digest(inputs[k : k + CHUNK], kept[k : k + CHUNK]) for k in (0, CHUNK)]
