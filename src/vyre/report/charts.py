"""Charts as SVG text: bars and stacked bars, drawn to be read on paper, a phone and in the dark.

Colours are CSS variables of the page, so that one chart serves both schemes; every bar carries its figure as
text, so that nothing is told by colour alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

_ROW = 22
_GAP = 6
_LABEL = 160
_WIDTH = 560
_FIGURE = 165
"""A phone shows the text larger: there must be room for it too."""
_COLUMNS = 2
"""Of a legend."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A labelled count; `tone` is `good`, `bad`, `open` or `plain`."""

    label: str
    value: int
    tone: str = "plain"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a stacked bar."""

    name: str
    value: int
    tone: str


def bars(items: list[Bar], *, title: str, logarithmic: bool = False) -> str:
    """Horizontal bars, by the logarithm of their counts where those differ by powers of ten."""
    room = _WIDTH - _LABEL - _FIGURE
    largest = max((b.value for b in items), default=0)
    rows: list[str] = []
    for k, bar in enumerate(items):
        y = k * (_ROW + _GAP)
        length = room * _share(bar.value, largest, logarithmic=logarithmic)
        rows.append(
            f'<text x="{_LABEL - 8}" y="{y + 16}" text-anchor="end">{escape(bar.label)}</text>'
            f'<rect x="{_LABEL}" y="{y}" width="{length:.1f}" height="{_ROW}" rx="3" class="{bar.tone}">'
            f"<title>{escape(bar.note or bar.label)}: {bar.value:,}</title></rect>"
            f'<text x="{_LABEL + length + 6:.1f}" y="{y + 16}" class="figure">{bar.value:,}</text>'
        )
    return _svg("".join(rows), len(items) * (_ROW + _GAP), title)


def stack(parts: list[Part], *, title: str) -> str:
    """One bar of shares with a legend below."""
    total = sum(p.value for p in parts) or 1
    x = 0.0
    shapes: list[str] = []
    legend: list[str] = []
    for k, part in enumerate(p for p in parts if p.value):
        width = _WIDTH * part.value / total
        shapes.append(
            f'<rect x="{x:.1f}" y="0" width="{width:.1f}" height="26" class="{part.tone}">'
            f"<title>{escape(part.name)}: {part.value:,}</title></rect>"
        )
        x += width
        column, row = k % _COLUMNS * (_WIDTH // _COLUMNS), 44 + k // _COLUMNS * 22
        legend.append(
            f'<rect x="{column}" y="{row - 11}" width="12" height="12" rx="2" class="{part.tone}"/>'
            f'<text x="{column + 18}" y="{row}">{escape(part.name)} {part.value:,}</text>'
        )
    height = 52 + max(len(legend) - 1, 0) // _COLUMNS * 22
    return _svg("".join(shapes + legend), height, title)


def _share(value: int, largest: int, *, logarithmic: bool) -> float:
    if not value or not largest:
        return 0.0
    return math.log10(value + 1) / math.log10(largest + 1) if logarithmic else value / largest


def _svg(body: str, height: int, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {max(height, 1)}" role="img" aria-label="{escape(title, quote=True)}">'
        f"{body}</svg>"
    )
