"""Ops, registries and inlining: calls that vanish."""

from vyre.compose.hardware import BackendAvailability
from vyre.compose.inline import inline, inline_op
from vyre.compose.op import Category, Op, Param
from vyre.compose.registry import Registry, default_registry

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
