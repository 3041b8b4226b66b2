"""The linear check of first-use order agrees with a plain recursive walk."""

from __future__ import annotations

from random import Random

from vyre.wire.tables import misplaced


def is_postorder(roots: list[int], operands: list[list[int]]) -> bool:
    """The definition: number the entries by a recursive left-to-right walk and compare."""
    numbered: list[int] = []

    def visit(index: int) -> None:
        if index in numbered:
            return
        for operand in operands[index]:
            visit(operand)
        numbered.append(index)

    for root in roots:
        visit(root)
    return numbered == list(range(len(operands)))


def agrees(roots: list[int], operands: list[list[int]]) -> bool:
    first = [0]
    for row in operands:
        first.append(first[-1] + len(row))
    flat = [operand for row in operands for operand in row]
    accepted = misplaced(roots, first, flat) is None
    assert accepted == is_postorder(roots, operands), (roots, operands)
    return accepted


def test_the_check_agrees_with_the_definition_on_random_tables() -> None:
    rng = Random(7)
    accepted = 0
    for _ in range(20_000):
        count = rng.randrange(7)
        operands = [
            [rng.randrange(i) for _ in range(rng.choice((0, 1, 2, 2, 3)))] if i else [] for i in range(count)
        ]
        roots = [rng.randrange(count) for _ in range(rng.randrange(1, 4))] if count else []
        accepted += agrees(roots, operands)
    assert accepted > 500


def test_tables_that_a_simpler_check_gets_wrong() -> None:
    assert agrees([3], [[], [], [1, 0], [0, 2]])
    assert not agrees([3], [[], [], [0, 1], [1, 2]])
    assert agrees([], [])
    assert agrees([0, 0, 1], [[], []])
    assert not agrees([1, 0], [[], []])
