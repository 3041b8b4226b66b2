"""Updates at an index that comes from data warn, and say which atomic to write; the others do not."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

from vyre import KernelWarning

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = """\
@vyre.kernel{size}
def k(a: In[u32], n: u32, out: InOut[u32], f: InOut[f32], table: InOut[u32, Literal["h", "w"]]):
    i = vyre.invocation_id(0)
    tile = vyre.shared(u32, 8)
    kept = vyre.private(u32, 8)
    {body}
"""


def warned(load: Callable[[str], dict[str, Any]], body: str, size: str = "") -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load(HEAD.format(size=size, body=body))
    return caught


SAFE = "Fix: make sure that no two invocations have the same index."


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("out[a[i] % 8] += 1", "Fix: write vyre.atomic_add(out, a[i] % 8, 1)."),
        ("b = a[i] % 8\n    out[b] += 1", "Fix: write vyre.atomic_add(out, b, 1)."),
        ("if i < n:\n        out[a[i]] -= 1", "Fix: write vyre.atomic_add(out, a[i], 0 - u32(1))."),
        ("if i >= n:\n        return\n    out[a[i]] ^= i", "Fix: write vyre.atomic_xor(out, a[i], i)."),
        ("for j in range(i, n, 64):\n        out[a[j]] |= j", "Fix: write vyre.atomic_or(out, a[j], j)."),
        ("if a[i] == 3:\n        out[a[i + 1]] += 2", "Fix: write vyre.atomic_add(out, a[i + 1], 2)."),
        ("table[a[i], 2] += 1", "Fix: write vyre.atomic_add(table, (a[i], 2), 1)."),
        ("out[vyre.workgroup_id(0) * 8 + a[i]] += 1", "vyre.workgroup_id(0) * 8 + a[i], 1)."),
        ("tile[a[i]] += 1", "Fix: write vyre.atomic_add(tile, a[i], 1), and atomic=True in the vyre.shared"),
        ("out[a[i]] = out[a[i]] + 1", "Fix: write vyre.atomic_add(out, index, value)."),
        ("out[a[i]] = vyre.max(out[a[i]], i)", "Fix: use an atomic such as vyre.atomic_max, or make sure"),
        ("f[a[i]] += 0.5", SAFE),
        ("out[a[i]] *= 3", SAFE),
    ],
)
def test_a_lost_update_is_warned_of(load: Callable[[str], dict[str, Any]], body: str, fix: str) -> None:
    (found,) = warned(load, body)
    assert found.category is KernelWarning
    assert "two invocations may have the same one, and one of their updates is lost" in str(found.message)
    assert fix in str(found.message)
    assert found.lineno == 6 + HEAD.count("\n") + body.count("\n")


@pytest.mark.parametrize(
    "body",
    [
        "vyre.atomic_add(out, a[i] % 8, 1)",
        "vyre.atomic_add(out, a[i], 0 - u32(1))",
        "vyre.atomic_add(table, (a[i], 2), 1)",
        "hist = vyre.shared(u32, 8, atomic=True)\n    vyre.atomic_add(hist, a[i], 1)",
        "out[i] += a[i]",
        "out[i * 8 + a[i] % 8] += 1",
        "table[i, a[i]] += 1",
        "kept[a[i] % 8] += 1",
        "slot = vyre.atomic_add(out, 0, 1)\n    f[slot] += 1.0",
        "for j in range(a[i], a[i + 1]):\n        f[j] += 0.5",
        "if i == 0:\n        for j in range(n):\n            out[a[j]] += 1",
        "if i < 1:\n        out[a[i]] += 1",
        "if i != 0:\n        return\n    out[a[i]] += 1",
        "out[a[i]] |= 1",
        "out[a[i]] = i",
    ],
)
def test_what_cannot_meet_or_may_be_meant_does_not_warn(
    load: Callable[[str], dict[str, Any]], body: str
) -> None:
    assert warned(load, body) == []


def test_one_invocation_meets_nobody(load: Callable[[str], dict[str, Any]]) -> None:
    assert warned(load, "out[a[i]] += 1", "(workgroup_size=1)") == []
