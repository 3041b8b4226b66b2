"""LLVM IR: readable text, exact, shaped so that LLVM vectorises it. Needs no LLVM to be installed."""

from vyre.lower.llvm.module import ENTRY, LlvmSource, emit

__all__ = ["ENTRY", "LlvmSource", "emit"]
