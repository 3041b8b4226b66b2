"""Rewrite rules as data, each proved for all inputs; dead code; accesses that need no bounds check."""

from vyre.optimize.program import optimize, optimize_entry

__all__ = ["optimize", "optimize_entry"]
