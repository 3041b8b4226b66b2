"""The binary form of programs: canonical, bounded, safe on hostile input (`docs/wire-form.md`).

Equal programs have equal bytes, and every byte string that `decode` accepts is what `encode` gives
for the program it holds. Purely structural: a program need not be valid, only within the limits.
"""

from vyre.wire.digest import byte_digest, meaning_digest
from vyre.wire.layout import MAGIC, MAX_STRING_BYTES, VERSION
from vyre.wire.reader import decode
from vyre.wire.writer import encode

__all__ = ["MAGIC", "MAX_STRING_BYTES", "VERSION", "byte_digest", "decode", "encode", "meaning_digest"]
