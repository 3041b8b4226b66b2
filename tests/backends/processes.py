"""Scripts in processes of their own: what may crash or hang must not take the tests with it."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

HEAD = """
import faulthandler, gc, os, signal, sys, threading, time
faulthandler.enable()
import numpy as np
import vyre
from vyre import Program, dispatch

def text(body, size=64):
    return Program.from_text(
        f"vyre 1\\nworkgroup {size} 1 1\\nbuffer a: readonly U32 @0\\n"
        f"buffer out: readwrite U32 @1\\nentry {{ {body} }}"
    )

SHORT = text("out[invocation.x] = a[invocation.x & 3] + 1")
DAYS = text("let s = 0\\n for k in 0..4294967295 { for j in 0..4294967295 "
            "{ s := (s * 1664525 + k) ^ a[j & 3] } }\\n out[invocation.x] = s")
A = np.arange(4, dtype=np.uint32)

def works(backend):
    found = dispatch(SHORT, {"a": A, "out": np.zeros(6400, np.uint32)}, backend=backend)["out"]
    assert np.array_equal(found, np.tile(A + 1, 1600))

def skip_unless(backend):
    try:
        vyre.backends.get(backend)
    except vyre.BackendUnavailable as error:
        print("SKIP", error)
        sys.exit(0)

import vyre.backends
"""


def run_script(body: str, *arguments: str, limit: float = 120) -> str:
    """What the script prints; it must end by itself, with 0, within `limit` seconds."""
    command = [sys.executable, "-c", HEAD + dedent(body), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
