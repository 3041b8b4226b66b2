"""The eight atomics as functions of one cell: (old, value[, expected]) to (new, returned)."""
