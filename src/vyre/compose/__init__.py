"""Ops, registries and inlining: calls that vanish."""

from vyre.compose.inline import inline, inline_op
from vyre.compose.registry import Registry, default_registry
from vyre.ir.op import BackendAvailability, Category, Op, Param

__all__ = [
    "BackendAvailability",
    "Category",
    "Op",
    "Param",
    "Registry",
    "default_registry",
    "inline",
    "inline_op",
]
