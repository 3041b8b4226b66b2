"""Private memory in LLVM IR.

An invocation that runs in one piece has its private memory on the stack, where LLVM may take it apart into
registers; one that waits at barriers has a part of the thread's scratch memory. There the same element of
all invocations lies side by side: the loop over them is then one of vectors. The stacks of reductions, which
begin and end in one piece, are always on the stack, and nobody clears them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.lower.llvm.layout import own_bytes

if TYPE_CHECKING:
    from vyre.lower.llvm.layout import MemoryLayout
    from vyre.lower.llvm.memory import MemoryEmitter


def own_memory(emitter: MemoryEmitter, layout: MemoryLayout | None = None) -> None:
    """Where the private buffers of the invocation lie that begins here; zeros, if it begins at all."""
    text = emitter.text
    for decl in emitter.prepared.buffers:
        if decl.access is not BufferAccess.Private:
            continue
        size = own_bytes(decl)
        if layout is not None and f"b_{decl.name}" in layout.scratch:
            at = text.let("w", f"mul i64 {emitter.ids.linear}, {decl.element.stride}")
            own = f"getelementptr inbounds i8, ptr %b_{decl.name}, i64 {at}"
            emitter.bases[decl.name] = text.let("own", own)
            emitter.steps[decl.name] = layout.invocations
            continue
        if decl.name not in emitter.bases:
            emitter.bases[decl.name] = text.slot("own", f"[{size // 4} x i32]")
        if decl.name in emitter.prepared.stacks:
            continue
        memset = text.intrinsic("@llvm.memset.p0.i64")
        text.do(f"call void {memset}(ptr align 4 {emitter.bases[decl.name]}, i8 0, i64 {size}, i1 false)")
