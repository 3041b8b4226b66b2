"""Names of the float rows, and the places of the documents that they answer for."""

from __future__ import annotations

from typing import Any

from lab.golden.compute import FUNCTIONS

SECTION = "003/Float semantics — strict IEEE 754, deterministic across backends"
FORBIDDEN = (
    f"{SECTION} (list)",
    "002/Float Semantics — deterministic via restriction (list)",
)

Row = dict[str, Any]


class Rows:
    """Rows in order, each with the next number of its stem."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._counts: dict[str, int] = {}

    def add(self, stem: str, kind: str, sources: list[str], note: str = "", **fields: Any) -> None:
        self._counts[stem] = self._counts.get(stem, 0) + 1
        row: Row = {"id": f"{stem}/golden/{self._counts[stem]}", "kind": kind, **fields}
        if sources:
            row["sources"] = sources
        if note:
            row["note"] = note
        self.rows.append(row)


TABLE_ROW = {
    op: n
    for n, family in enumerate(
        (
            "FAdd",
            "FSub",
            "FMul",
            "FDiv",
            "FMulAdd",
            "FSqrt",
            "FMin",
            "FMax",
            "FNeg",
            "FAbs",
            "FEq FNe FLt FGt FLe FGe",
            "FIsNaN",
            "FIsInf",
            "FSin FCos FTan FASin FACos FATan FATan2",
            "FExp FLog FExp2 FLog2 FExp10 FLog10",
            "FPow",
            "FFloor FCeil FRound FTrunc",
        ),
        1,
    )
    for op in family.split()
}
OURS = ("FErf", "FTanh", "FSinh", "FCosh", "FExpm1", "FLog1p", "FCbrt")
"""Functions that the documents do not name."""

FORBIDDEN_ITEM = {"FDiv": 5, "FSqrt": 5} | dict.fromkeys([*FUNCTIONS, "FATan2", "FPow"], 4)


PLANNED = "002/Planned types (specified but not yet in source)"
TYPE_ROWS = {
    "F32": [f"{PLANNED}/2", "003/Data Types/11"],
    "F16": [f"{PLANNED}/3", "003/Data Types/9"],
    "BF16": [f"{PLANNED}/4", "003/Data Types/10"],
}
PREFIX = {"F32": "float", "F16": "float.f16", "BF16": "float.bf16", "F64": "float.f64"}


def stem_of(op: str, name: str) -> str:
    """The id of the library op that this operator is (decision 20)."""
    names = {"FMulAdd": "fma", "FIsNaN": "is_nan", "FIsInf": "is_inf"}
    return f"{PREFIX[name]}.{names.get(op, op[1:].lower())}"


def sources_of(op: str, name: str) -> list[str]:
    """What the documents say of an operator is shown by its F32 rows together, not by the first of them.

    What they say of a type, that it is strict, is shown by its additions.
    """
    typed = TYPE_ROWS.get(name, []) if op == "FAdd" else []
    if name != "F32" or op in OURS:
        return typed
    item = FORBIDDEN_ITEM.get(op)
    return [
        *typed,
        f"{SECTION}/{TABLE_ROW[op]}",
        *([f"{where}/{item}" for where in FORBIDDEN] if item else []),
    ]
