"""What an emitter gives: source text and the facts a host needs to run it.

The kernel ABI, the same in all languages: the storage and uniform buffers in the order of their
declaration, then the hidden words. The hidden words are u32: the first workgroup of this launch along
x, y and z (a large grid may take several launches), then the length in elements of every buffer that
is sized by the host, and for a kernel with guarded floats a zero, which its compiler must not know.

A process that finds its sources on the disk loads this module and none that lowers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

BASE_WORDS = ("base_x", "base_y", "base_z")
ZERO_WORD = "zero"


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel in one language. `buffers` are bound in order; `hidden` names the hidden words."""

    language: str
    entry: str
    text: str
    workgroup_size: tuple[int, int, int]
    buffers: tuple[BufferDecl, ...]
    hidden: tuple[str, ...]
    ways: tuple[tuple[str, str], ...] = ()
    """Which way each float operation took, such as `("f32.add", "native")`."""
    tables: bytes = b""
    """In WGSL, the constant tables: they follow the hidden words, from the next multiple of 16 bytes on."""

    @property
    def lowering(self) -> str:
        """The ways in words; empty for a kernel without float operations."""
        from vyre.lower.ways import summary

        return summary(self.ways)

    @property
    def tables_at(self) -> int:
        """Bytes of the hidden words where they are a uniform, which is where the tables begin."""
        return -(-len(self.hidden) // 4) * 16

    def hidden_values(self, lengths: dict[str, int], base: tuple[int, int, int]) -> list[int]:
        """The hidden words for one launch."""
        sized = [lengths[b.name] for b in self.buffers if b.count == 0]
        return [*base, *sized, *([0] if ZERO_WORD in self.hidden else [])]


def bound_buffers(prepared: Prepared) -> tuple[BufferDecl, ...]:
    """The buffers that the host binds: all but workgroup memory."""
    return tuple(b for b in prepared.buffers if b.access.bound)


def hidden_words(prepared: Prepared) -> tuple[str, ...]:
    from vyre.numeric.guarded import OPAQUE

    sized = (f"len_{b.name}" for b in bound_buffers(prepared) if b.count == 0)
    zero = (ZERO_WORD,) if OPAQUE in prepared.natives else ()
    return (*BASE_WORDS, *sized, *zero)


def launches(
    workgroups: tuple[int, int, int], limits: tuple[int, int, int]
) -> Iterator[tuple[tuple[int, int, int], tuple[int, int, int]]]:
    """The launches that cover a grid: the first workgroup of each and its size, within the limits."""
    x_limit, y_limit, z_limit = limits
    x_count, y_count, z_count = workgroups
    for z in range(0, z_count, z_limit):
        for y in range(0, y_count, y_limit):
            for x in range(0, x_count, x_limit):
                yield (
                    (x, y, z),
                    (min(x_count - x, x_limit), min(y_count - y, y_limit), min(z_count - z, z_limit)),
                )
