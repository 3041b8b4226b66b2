"""How float operations are lowered: a choice per operation and target, made before anything is emitted.

An operation is named by its format and its name, such as `f32.add`; `soft` means the integer formula of
`vyre.numeric.soft`, `native` the target's own instruction (`native.py`), `double` a formula over native F64
operations (`vyre.numeric.doubles`). Soft is always exact. Native is chosen where the language guarantees the
bits, or where a device says that it does; double wherever F64 is native and there is such a formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.lower.native import F16_KEYS, F32_KEYS, F64_KEYS, HALF_KEYS, ROUNDINGS
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

ORDERED = ("lt", "gt", "le", "ge")
SOFT_WAY, NATIVE_WAY, DOUBLE_WAY = "soft", "native", "double"


@dataclass(frozen=True, slots=True)
class Ways:
    """The operations that are native; all others are soft, or refused where there is no soft formula."""

    native: frozenset[str] = frozenset()

    def of(self, key: str) -> str:
        return NATIVE_WAY if key in self.native else SOFT_WAY

    @property
    def doubles(self) -> bool:
        """Whether F64 values are the target's doubles; else they are moved as two words."""
        return not F64_KEYS.isdisjoint(self.native)

    def without(self, keys: Iterable[str]) -> Ways:
        return Ways(self.native - frozenset(keys))


SOFT = Ways()
CUDA_WAYS = Ways(F32_KEYS | F64_KEYS | HALF_KEYS)
LLVM_WAYS = Ways(F32_KEYS | F64_KEYS | (HALF_KEYS - F16_KEYS))
"""On any processor. The conversions of F16 are instructions on some only; elsewhere they are calls."""

LLVM_F16_WAYS = Ways(LLVM_WAYS.native | F16_KEYS)
"""For processors that convert F16 themselves."""

WGSL_WAYS = SOFT
"""The language promises no float result: fused, flushed and approximate ones all conform."""


def opencl_ways(*, denormals: bool, divide: bool, doubles: bool, chooses: bool = True) -> Ways:
    """What an OpenCL device promises, by the bits it reports for single and double precision.

    Without `chooses` its compiler makes maxima of choices between the operands of a comparison.
    """
    native: frozenset[str] = frozenset()
    if denormals:
        native |= F32_KEYS | HALF_KEYS
        native -= {f"f32.{name}" for name in ROUNDINGS}  # soft is as short, and PoCL's own are not exact
        if not divide:
            native -= {f"{fmt}.{name}" for fmt in ("f32", "f16", "bf16") for name in ("div", "sqrt")}
        if not chooses:
            native -= {f"f32.{name}" for name in ORDERED}
    return Ways(native | F64_KEYS if doubles else native)


OPENCL_WAYS = opencl_ways(denormals=True, divide=True, doubles=True)
"""On a device with everything: what `vyre lower` prints."""

DEFAULT_WAYS = {"llvm": LLVM_WAYS, "cuda": CUDA_WAYS, "opencl": OPENCL_WAYS, "wgsl": WGSL_WAYS}


def summary(used: tuple[tuple[str, str], ...]) -> str:
    """One word where all operations went the same way, else each way with its operations."""
    ways = sorted({way for _, way in used})
    if len(ways) < 2:
        return ways[0] if ways else ""
    return "; ".join(f"{way}: {', '.join(key for key, w in used if w == way)}" for way in ways)
