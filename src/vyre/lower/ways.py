"""How float operations are lowered: a choice per operation and target, made before anything is emitted.

An operation is named by its format and its name, such as `f32.add`; `soft` means the integer formula of
`vyre.numeric.soft`, `native` the target's own instruction (`native.py`), `guarded` that instruction within a
range and the integer formula outside (`vyre.numeric.guarded`), `double` a formula over native F64 operations
(`vyre.numeric.doubles`). Soft is always exact. Native is chosen where the language guarantees the bits, or
where a device says that it does; guarded where a device was shown exact within the range; double wherever F64
is native and there is such a formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, FMulAdd, FReduce
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import expressions
from vyre.lower.native import F16_KEYS, F32_KEYS, F64_KEYS, GUARDED_KEYS, HALF_KEYS, ROUNDINGS
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.ir.program import Program

_GUARDED_OPS = frozenset({BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul})
ORDERED = ("lt", "gt", "le", "ge")
SOFT_WAY, NATIVE_WAY, GUARDED_WAY, DOUBLE_WAY = "soft", "native", "guarded", "double"


@dataclass(frozen=True, slots=True)
class Ways:
    """The operations that are native, and those that are guarded.

    All others are soft, or refused where there is no soft formula.
    """

    native: frozenset[str] = frozenset()
    guarded: frozenset[str] = frozenset()
    stacks: bool = False
    """Whether a place of an invocation's own memory is as near as a register: the subtrees of a reduction lie
    there then, and its code is a few loops instead of a step for each of 32 levels."""

    def of(self, key: str) -> str:
        if key in self.native:
            return NATIVE_WAY
        return GUARDED_WAY if key in self.guarded else SOFT_WAY

    @property
    def doubles(self) -> bool:
        """Whether F64 values are the target's doubles; else they are moved as two words."""
        return not F64_KEYS.isdisjoint(self.native)

    def without(self, keys: Iterable[str]) -> Ways:
        gone = frozenset(keys)
        return Ways(self.native - gone, self.guarded - gone, self.stacks)


SOFT = Ways()
CUDA_WAYS = Ways(F32_KEYS | F64_KEYS | HALF_KEYS)
LLVM_WAYS = Ways(F32_KEYS | F64_KEYS | (HALF_KEYS - F16_KEYS), stacks=True)
"""On any processor. The conversions of F16 are instructions on some only; elsewhere they are calls."""

LLVM_F16_WAYS = Ways(LLVM_WAYS.native | F16_KEYS, stacks=True)
"""For processors that convert F16 themselves."""

WGSL_GUARDED_WAYS = Ways(guarded=GUARDED_KEYS)
"""What a device may be admitted to, operation by operation (`vyre.backends.probe.admission`)."""


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


@dataclass(frozen=True, slots=True)
class FloatChoice:
    """One way to write the floats of a kernel in a language, and what a host may rely on."""

    ways: Ways
    promise: str
    needs: tuple[str, ...] = ()
    """Without which the promise does not hold: options of the compiler, the state of a thread, a device."""


_ON_INTEGERS = FloatChoice(SOFT, "exact on every device: integers only")
_GIVEN = "exact where everything in `needs` is given"

FLOATS: Mapping[str, Mapping[str, FloatChoice]] = {
    "llvm": {
        NATIVE_WAY: FloatChoice(
            LLVM_WAYS, _GIVEN, ("the default floating-point environment: to nearest, subnormals kept",)
        ),
        SOFT_WAY: _ON_INTEGERS,
    },
    "wgsl": {
        SOFT_WAY: _ON_INTEGERS,
        NATIVE_WAY: FloatChoice(
            Ways(F32_KEYS),
            "not exact by itself: WGSL lets a device fuse, flush and approximate",
            ("a device that was shown to be exact for every operation called native here",),
        ),
        GUARDED_WAY: FloatChoice(
            WGSL_GUARDED_WAYS,
            _GIVEN,
            ("a device that is exact within the ranges of the guarded operations, which `vyre probe` asks",),
        ),
    },
    "cuda": {
        NATIVE_WAY: FloatChoice(
            CUDA_WAYS, _GIVEN, ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
        ),
        SOFT_WAY: _ON_INTEGERS,
    },
    "opencl": {
        NATIVE_WAY: FloatChoice(
            OPENCL_WAYS,
            _GIVEN,
            (
                "-cl-fp32-correctly-rounded-divide-sqrt",
                "a device that keeps subnormals and has doubles where the kernel uses them",
            ),
        ),
        SOFT_WAY: _ON_INTEGERS,
    },
}
"""By language: the ways that can be asked for by name. The first is taken where none is."""

DEFAULT_WAYS = {language: next(iter(choices.values())).ways for language, choices in FLOATS.items()}


def may_be_guarded(program: Program) -> bool:
    """Whether a program without calls has an operation that can be guarded; False is sure."""
    return any(
        isinstance(x, FMulAdd | FReduce) or (isinstance(x, BinOp) and x.op in _GUARDED_OPS)
        for x in expressions(program.entry)
    )


def summary(used: tuple[tuple[str, str], ...]) -> str:
    """One word where all operations went the same way, else each way with its operations."""
    ways = sorted({way for _, way in used})
    if len(ways) < 2:
        return ways[0] if ways else ""
    return "; ".join(f"{way}: {', '.join(key for key, w in used if w == way)}" for way in ways)
