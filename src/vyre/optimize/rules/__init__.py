"""The table of rewrite rules, in the order in which they are tried."""

from vyre.optimize.rules import (
    arithmetic,
    bitwise,
    casts,
    commute,
    compare,
    lanes,
    logic,
    selects,
    shifts,
    strength,
)

FAMILIES = {
    "literals to the right": commute.RULES,
    "arithmetic": arithmetic.RULES,
    "bits": bitwise.RULES,
    "shifts and masks": shifts.RULES,
    "comparisons": compare.RULES,
    "logic": logic.RULES,
    "choices": selects.RULES,
    "lanes": lanes.RULES,
    "casts": casts.RULES,
    "strength": strength.RULES,
}

RULES = tuple(rule for family in FAMILIES.values() for rule in family)
