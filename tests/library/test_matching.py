"""Matches are those of `re`, span for span, and words are found as one by one, on every backend."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre
from vyre.errors import DispatchError, VyreError
from vyre.library import matching
from vyre.library.matching import Regex, Words, automata, listing, walking
from vyre.library.matching import words as many

ATOMS = [b"a", b"b", b"c", b".", b"[ab]", b"[^a]", rb"\w", rb"\s", rb"\n", rb"\x61", b"[a-c-]", b"[]x]", b" "]
ANCHORS = [b"^", b"$", rb"\A", rb"\Z", rb"\b", rb"\B"]
REPEATS = [b"*", b"+", b"?", b"{2}", b"{1,2}", b"{,2}", b"{1,}"]
FLAGS = [0, re.I, re.S, re.M, re.I | re.M | re.S]


def expression(dice: random.Random, depth: int = 0) -> bytes:
    """An expression of the subset; what is repeated may be refused."""
    shape = dice.random()
    if depth > 3 or shape < 0.3:
        return dice.choice(ATOMS) if dice.random() < 0.85 else dice.choice(ANCHORS)
    if shape < 0.6:
        return b"".join(expression(dice, depth + 1) for _ in range(dice.randint(1, 3)))
    if shape < 0.8:
        parts = [expression(dice, depth + 1) for _ in range(dice.randint(2, 3))]
        return b"(?:" + b"|".join([*parts, b""] if dice.random() < 0.2 else parts) + b")"
    lazy = b"?" if dice.random() < 0.3 else b""
    return b"(" + expression(dice, depth + 1) + b")" + dice.choice(REPEATS) + lazy


def text(dice: random.Random, most: int) -> bytes:
    return bytes(dice.choices(b"aabbcABx \n-", k=dice.randint(0, most)))


def searchable(dice: random.Random) -> tuple[bytes, int, Regex]:
    while True:
        pattern, flags = expression(dice), dice.choice(FLAGS)
        try:
            return pattern, flags, Regex(pattern, flags)
        except VyreError as error:
            if "can be empty" not in str(error):
                raise


def spans_of(pattern: bytes, data: bytes, flags: int = 0) -> list[list[int]]:
    return [list(m.span()) for m in re.finditer(pattern, data, flags)]


def ends_of(pattern: bytes, data: bytes, flags: int) -> list[int]:
    """Places at which some way to match ends: what is behind it is asked for by `re` itself."""
    whole = [b"(?:%b)(?<=\\A[\\x00-\\xff]{%d})" % (pattern, end) for end in range(len(data) + 1)]
    return [end for end, one in enumerate(whole) if re.search(one, data, flags)]


def test_random_expressions_match_as_in_re(backend: str) -> None:
    dice = random.Random(5)
    for _ in range(250 if backend == "cpu" else 25):
        pattern, flags, regex = searchable(dice)
        for data in (text(dice, 8), text(dice, 40)):
            if data or rb"\B" not in pattern:  # which of the two an empty text has depends on the Python
                found = regex.spans(data, backend=backend).tolist()
                assert found == spans_of(pattern, data, flags), (pattern, flags, data)


def test_random_expressions_end_where_re_says(backend: str) -> None:
    dice = random.Random(6)
    for _ in range(120 if backend == "cpu" else 15):
        pattern, flags, regex = searchable(dice)
        data = text(dice, 14) + b"a"
        assert regex.ends(data, backend=backend).tolist() == ends_of(pattern, data, flags), (pattern, data)


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts as on a GPU, where a processor would take all as one."""

    def none_walks(states: int, backend: object) -> bool:
        del states, backend
        return False

    for module in (walking, listing):
        monkeypatch.setattr(module, "one_walks", none_walks)


@pytest.mark.parametrize("size", [254, 255, 256, 257, 511, 512, 16_383, 16_384, 40_000])
def test_parts_of_a_text_are_joined(size: int, backend: str, short_parts: None) -> None:
    del short_parts
    dice = random.Random(size)
    data = bytes(dice.choices(b"ab\n", weights=[50, 50, 1], k=size))
    for pattern in (b"a(?:ba)*", b".*b", rb"(?:a|b)+?bb$", b"(?:[ab]{3})+", b"^"):
        flags = re.M
        assert Regex(pattern, flags).spans(data, backend=backend).tolist() == spans_of(pattern, data, flags)


@pytest.mark.parametrize("stretch", [1, 2, 7])
def test_a_walker_goes_on_where_it_stopped(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "one_walks", lambda states, backend: True)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    monkeypatch.setattr(listing, "_STRETCH", stretch)
    dice = random.Random(stretch)
    for pattern in (b"a*", b"a(?:ba)*|^", rb"\b|b", b".*$"):
        data = bytes(dice.choices(b"ab\n", k=30))
        assert Regex(pattern).spans(data).tolist() == spans_of(pattern, data, 0)
        assert Regex(pattern).ends(data).tolist() == ends_of(pattern, data, 0)


def test_a_long_text_has_three_levels_of_parts(short_parts: None) -> None:
    del short_parts
    data = b"(" + b"x" * (64 * 64 * 256 + 1000) + b")"
    assert Regex(rb"\(x*\)").spans(data).tolist() == [[0, len(data)]]
    assert Regex(rb"\(x*\)").ends(data).tolist() == [len(data)]


def test_sources_are_searched_as_by_re(backend: str) -> None:
    data = Path(re.__file__).read_bytes()[: None if backend == "cpu" else 20_000]
    for pattern in (rb"def (\w+)\(", rb"\"[^\"\n]*\"", rb"\b[A-Z]{2,}\b", rb"#.*$", rb"(?:if|in|is)\b"):
        found = Regex(pattern, re.M).spans(data, backend=backend).tolist()
        assert found == spans_of(pattern, data, re.M)
        assert found


def test_many_branches_are_one_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(12)
    words = [bytes(dice.choices(b"abcdefgh", k=dice.randint(2, 8))) for _ in range(150)]
    data = b"".join(dice.choices(words, k=300)) + b"xyz" + text(dice, 200)
    pattern = b"|".join(words)
    assert Regex(pattern).spans(data).tolist() == spans_of(pattern, data)
    monkeypatch.setattr(automata, "MOST_WORDS", 5000)
    with pytest.raises(VyreError, match="table more than 5000 entries") as raised:
        Regex(pattern).spans(data)
    assert "Words" in raised.value.fix


def occurrences(words: list[bytes], data: bytes) -> list[tuple[int, int, int]]:
    """Ends, negative lengths and ids, word by word."""
    found: list[tuple[int, int, int]] = []
    for number, word in enumerate(words):
        start = data.find(word)
        while start >= 0:
            found.append((start + len(word), -len(word), number))
            start = data.find(word, start + 1)
    return sorted(found)


def rows(found: tuple[Any, Any]) -> list[tuple[int, int, int]]:
    spans, ids = found
    return [
        (end, begin - end, number) for (begin, end), number in zip(spans.tolist(), ids.tolist(), strict=True)
    ]


def test_random_words_are_found_as_one_by_one(backend: str) -> None:
    dice = random.Random(8)
    for turn in range(40 if backend == "cpu" else 8):
        words = [bytes(dice.choices(b"ab", k=dice.randint(1, 7))) for _ in range(dice.randint(1, 12))]
        data = bytes(dice.choices(b"ab", k=(turn * 97) % 1500))
        assert rows(Words(words).find(data, backend=backend)) == occurrences(words, data)


def test_a_thousand_words_are_found_in_sources(backend: str) -> None:
    data = Path(random.__file__).read_bytes()
    words = [*sorted(set(re.findall(rb"\w+", data)))[:900], b"e", b"he", b"the", b"the " * 200]
    words += [bytes([0, k & 255, k >> 8, 0]) for k in range(100)]
    assert rows(Words(words).find(data, backend=backend)) == occurrences(words, data)


def test_words_longer_than_a_part_are_found(backend: str) -> None:
    words = [b"a" * 300, b"a" * 299 + b"b", b"a" * 700]
    data = (b"a" * 1000 + b"b") * 3
    assert rows(Words(words).find(data, backend=backend)) == occurrences(words, data)


def test_nothing_is_found_in_nothing() -> None:
    assert Words([]).find(b"abc")[0].shape == (0, 2)
    assert Words([b"a"]).find(b"")[1].tolist() == []
    assert Regex(b"a").spans(b"").tolist() == []
    assert Regex(b"a*").spans(b"").tolist() == [[0, 0]]
    assert Regex(b"a*").ends(b"").tolist() == [0]
    assert Regex(b"").spans(b"ab").tolist() == [[0, 0], [1, 1], [2, 2]]


def test_the_reference_gives_the_same() -> None:
    data = b"abcab bab\n"
    for pattern in (b"(?:a|ab)(?:c|b)?", rb"\b\w", b"b*?$"):
        assert Regex(pattern).spans(data, backend="reference").tolist() == spans_of(pattern, data)
    words = [b"ab", b"b", b"bab"]
    assert rows(Words(words).find(data, backend="reference")) == occurrences(words, data)


def test_a_text_may_be_on_a_device(backend: str) -> None:
    data = b"she sells sea shells" * 40
    there = vyre.to_device(np.frombuffer(data, np.uint8), backend=backend)
    assert Regex(rb"\bs\w+").spans(there).tolist() == spans_of(rb"\bs\w+", data)
    assert rows(Words([b"se", b"she"]).find(there)) == occurrences([b"se", b"she"], data)


def test_equal_automata_are_as_small() -> None:
    assert Regex(b"a|b|c").states == Regex(b"[a-c]").states == 2
    assert Regex(b"(?:a|b)*abb").states == Regex(b"abb").states == 4
    assert Regex(b".{3}x").states <= 16


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (b"(a", "not closed, at place 2"),
        (b"a)", "closes no group, at place 1"),
        (b"[a", "a class is not closed"),
        (b"[b-a]", "a range are out of order"),
        (b"*a", "repeats nothing"),
        (b"a|{2}", r"\{2\} repeats nothing, at place 2"),
        (b"({,3}?a)", r"\{,3\} repeats nothing, at place 1"),
        (b"a**", "a repeat is repeated"),
        (b"a++", "a repeat is repeated"),
        (b"(?:a?)*", "can be empty"),
        (b"^*", "can be empty"),
        (b"^?", "an anchor is repeated"),
        (rb"\b??", "an anchor is repeated"),
        (rb"(a)\1", r"\\1 is not supported"),
        (rb"(?=a)", "of this kind"),
        (b"a{3,2}", "a repeat of 3 to 2"),
        (b"a{2000}", "a repeat of 2000"),
        (b"(?:a{999}){999}", "more than 4096 steps"),
        (b"(" * 200 + b")" * 200, "more than 100 deep"),
    ],
)
def test_what_is_no_expression_of_the_subset_is_refused(pattern: bytes, said: str) -> None:
    with pytest.raises(VyreError, match=said) as raised:
        Regex(pattern)
    assert raised.value.fix


def test_an_automaton_that_grows_too_large_is_refused() -> None:
    regex = Regex(b"(?:a|b)*a(?:a|b){14}")
    with pytest.raises(VyreError, match="more than 4096 states") as raised:
        regex.ends(b"abab")
    assert raised.value.fix
    with pytest.raises(VyreError, match="more than 4096 states"):
        Regex(b"(?:a|b){14}a(?:a|b)*").spans(b"abab")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Regex("a"), "bytes, not str"),  # pyright: ignore[reportArgumentType]
        (lambda: Regex(b"a", re.X), "are not supported"),
        (lambda: Words([b"a", b""]), r"words\[1\] is empty"),
        (lambda: Words(["a"]), r"words\[0\] is str"),  # pyright: ignore[reportArgumentType]
        (lambda: Regex(b"a").spans("a"), "text, not bytes"),
        (lambda: Words([b"a"]).find(np.zeros(3, np.float32)), "float32, not uint8"),
    ],
)
def test_what_cannot_be_taken_is_refused(call: Any, said: str) -> None:
    with pytest.raises((VyreError, DispatchError), match=said) as raised:
        call()
    assert raised.value.fix


def test_what_is_too_large_for_one_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MOST_TEXT", 8)
    monkeypatch.setattr(many, "MOST_FOUND", 8)
    assert len(Regex(b"a").spans(b"a" * 8)) == len(Words([b"a"]).find(b"a" * 8)[1]) == 8
    with pytest.raises(DispatchError, match="a text of 9 bytes"):
        Regex(b"a").spans(b"a" * 9)
    with pytest.raises(DispatchError, match="found 9 times"):
        Words([b"a"]).find(b"a" * 9)


def test_the_package_offers_these() -> None:
    assert matching.__all__ == ["Regex", "Words"]
