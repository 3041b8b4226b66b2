"""The quick SHA-256 is the one of `hashlib`, and a first call loads no other."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import TYPE_CHECKING

from vyre.sha import sha256

if TYPE_CHECKING:
    from pathlib import Path

_FIRST_CALL = """
import sys, numpy as np, vyre
from vyre import In, Out, u32

@vyre.kernel
def doubled(a: In[u32], out: Out[u32]):
    i = vyre.invocation_id(0)
    out[i] = a[i] * 2

assert doubled(np.array([1, 2], np.uint32)).tolist() == [2, 4]
print([name for name in ("_hashlib", "vyre.wire.reader", "vyre.numeric.functions") if name in sys.modules])
"""


def test_digests_are_those_of_the_standard_library() -> None:
    for data in (b"", b"abc", bytes(range(256)) * 33):
        assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
    parts = sha256()
    parts.update(b"ab")
    parts.update(b"c")
    assert parts.digest() == hashlib.sha256(b"abc").digest()


def test_a_first_call_loads_neither_openssl_nor_what_it_does_not_use(tmp_path: Path) -> None:
    script = tmp_path / "first.py"
    script.write_text(_FIRST_CALL)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
