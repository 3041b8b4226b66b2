"""What Numba, Taichi and Warp do with the rows of docs/peers.md, on the CPU, one line a cell.

    pip install numba taichi warp-lang
    python benchmarks/peers_cpu.py            all three; or name one: numba, taichi, warp

Every cell is a process of its own, because some of them end it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

_NUMBA = """
import numpy as np, numba
def ints(*values, dtype=np.int32):
    return np.array(values, dtype)
u32 = np.uint32
"""
_TAICHI = """
import numpy as np, taichi as ti
ti.init(arch=ti.cpu, log_level=ti.ERROR)
def ints(*values, dtype=np.int32):
    return np.array(values, dtype)
u32, A = np.uint32, ti.types.ndarray
"""
_WARP = """
import numpy as np, warp as wp
wp.config.log_level = wp.LOG_ERROR
def ints(*values, dtype=wp.int32):
    return wp.array(values, dtype=dtype, device="cpu")
def launch(*arrays, dim=1):
    wp.launch(k, dim=dim, inputs=list(arrays), device="cpu")
    print(arrays[-1].numpy().tolist())
u32, A = wp.uint32, wp.array
"""

HEADS = {"numba": _NUMBA, "taichi": _TAICHI, "warp": _WARP}

CELLS = {
    "break and continue": {
        "numba": "@numba.njit\ndef k(o):\n    for i in range(10):\n        if i == 2:\n            continue\n"
        "        if i > 3:\n            break\n        o[0] += 1\no = ints(0); k(o); print(o.tolist())",
        "taichi": "@ti.kernel\ndef k(o: A(ti.i32, 1)):\n    for j in range(1):\n        for i in range(10):\n"
        "            if i == 2:\n                continue\n            if i > 3:\n                break\n"
        "            o[0] += 1\no = ints(0); k(o); print(o.tolist())",
        "warp": "@wp.kernel\ndef k(o: A(dtype=wp.int32)):\n    n = int(0)\n    for i in range(10):\n"
        "        if i == 2:\n            continue\n        if i > 3:\n            break\n        n += 1\n"
        "    o[0] = n\nlaunch(ints(0))",
    },
    "break in the outermost loop": {
        "taichi": "@ti.kernel\ndef k(o: A(ti.i32, 1)):\n    for i in range(10):\n        if i > 3:\n"
        "            break\n        o[0] += 1\no = ints(0); k(o); print(o.tolist())",
    },
    "while": {
        "numba": "@numba.njit\ndef k(n):\n    t = 0\n    while n > 1:\n        n //= 2\n        t += 1\n"
        "    return t\nprint(k(1000))",
        "taichi": "@ti.kernel\ndef k(n: ti.i32) -> ti.i32:\n    t, m = 0, n\n    while m > 1:\n"
        "        m //= 2\n        t += 1\n    return t\nprint(k(1000))",
        "warp": "@wp.kernel\ndef k(a: A(dtype=wp.int32), o: A(dtype=wp.int32)):\n    n = a[0]\n"
        "    t = int(0)\n    while n > 1:\n        n = n // 2\n        t += 1\n    o[0] = t\n"
        "launch(ints(1000), ints(0))",
    },
    "private array, index known at run time": {
        "numba": "@numba.njit\ndef k(i):\n    t = np.zeros(4, np.int32)\n    t[i] = 5\n"
        "    return t[2]\nprint(k(2))",
        "taichi": "@ti.kernel\ndef k(i: ti.i32) -> ti.i32:\n    t = ti.Vector([0, 0, 0, 0])\n    t[i] = 5\n"
        "    return t[2]\nprint(k(2))",
        "warp": "V = wp.types.vector(4, wp.int32)\n@wp.kernel\ndef k(a: A(dtype=wp.int32), "
        "o: A(dtype=wp.int32)):\n    t = V()\n    t[a[0]] = 5\n    o[0] = t[2]\nlaunch(ints(2), ints(0))",
    },
    "tuple of constants, index known at run time": {
        "numba": "T = (2, 3, 5, 7)\n@numba.njit\ndef k(i):\n    return T[i]\nprint(k(2))",
        "taichi": "T = (2, 3, 5, 7)\n@ti.kernel\ndef k(i: ti.i32) -> ti.i32:\n    return T[i]\nprint(k(2))",
        "warp": "T = (2, 3, 5, 7)\n@wp.kernel\ndef k(a: A(dtype=wp.int32), o: A(dtype=wp.int32)):\n"
        "    o[0] = T[a[0]]\nlaunch(ints(2), ints(0))",
    },
    "a[i, j]": {
        "numba": "@numba.njit\ndef k(a):\n    return a[1, 0]\nprint(k(ints(1, 2, 3, 4).reshape(2, 2)))",
        "taichi": "@ti.kernel\ndef k(a: A(ti.i32, 2)) -> ti.i32:\n    return a[1, 0]\n"
        "print(k(ints(1, 2, 3, 4).reshape(2, 2)))",
        "warp": "@wp.kernel\ndef k(a: wp.array2d(dtype=wp.int32), o: A(dtype=wp.int32)):\n"
        "    o[0] = a[1, 0]\nlaunch(ints(1, 2, 3, 4).reshape((2, 2)), ints(0))",
    },
    "-7 // 2, -7 % 2 on i32": {
        "numba": "@numba.njit\ndef k(a, b, o):\n    o[0] = a[0] // b[0]\n    o[1] = a[0] % b[0]\n"
        "o = ints(0, 0); k(ints(-7), ints(2), o); print(o.tolist())",
        "taichi": "@ti.kernel\ndef k(a: ti.i32, b: ti.i32, o: A(ti.i32, 1)):\n    o[0] = a // b\n"
        "    o[1] = a % b\no = ints(0, 0); k(-7, 2, o); print(o.tolist())",
        "warp": "@wp.kernel\ndef k(a: A(dtype=wp.int32), b: A(dtype=wp.int32), o: A(dtype=wp.int32)):\n"
        "    o[0] = a[0] // b[0]\n    o[1] = a[0] % b[0]\nlaunch(ints(-7), ints(2), ints(0, 0))",
    },
    "u32 5 // 0": {
        "numba": "@numba.njit\ndef k(a, b):\n    return a[0] // b[0]\n"
        "print(k(ints(5, dtype=u32), ints(0, dtype=u32)))",
        "taichi": "@ti.kernel\ndef k(a: ti.u32, b: ti.u32) -> ti.u32:\n    return a // b\nprint(k(5, 0))",
        "warp": "@wp.kernel\ndef k(a: A(dtype=u32), b: A(dtype=u32), o: A(dtype=u32)):\n"
        "    o[0] = a[0] // b[0]\nlaunch(ints(5, dtype=u32), ints(0, dtype=u32), ints(9, dtype=u32))",
    },
    "u32 2**31 * 2": {
        "numba": "@numba.njit\ndef k(a, b):\n    return a[0] * b[0]\n"
        "print(k(ints(2**31, dtype=u32), ints(2, dtype=u32)))",
        "taichi": "@ti.kernel\ndef k(a: ti.u32, b: ti.u32) -> ti.u64:\n    return ti.cast(a * b, ti.u64)\n"
        "print(k(2**31, 2))",
        "warp": "@wp.kernel\ndef k(a: A(dtype=u32), b: A(dtype=u32), o: A(dtype=wp.uint64)):\n"
        "    o[0] = wp.uint64(a[0] * b[0])\n"
        "launch(ints(2**31, dtype=u32), ints(2, dtype=u32), ints(9, dtype=wp.uint64))",
    },
    "read one past the end": {
        "numba": "@numba.njit\ndef k(a):\n    return a[len(a)]\nprint(k(ints(1, 2, 3, 4)[:3]))",
        "taichi": "@ti.kernel\ndef k(a: A(ti.i32, 1)) -> ti.i32:\n    return a[3]\n"
        "print(k(ints(1, 2, 3, 4)[:3]))",
        "warp": "@wp.kernel\ndef k(a: A(dtype=wp.int32), o: A(dtype=wp.int32)):\n    o[0] = a[3]\n"
        "launch(ints(1, 2, 3, 4)[:3], ints(9))",
    },
    "read one past the end, debug mode": {
        "taichi": "ti.init(arch=ti.cpu, debug=True, log_level=ti.ERROR)\n@ti.kernel\n"
        "def k(a: A(ti.i32, 1)) -> ti.i32:\n    return a[3]\nprint(k(ints(1, 2, 3, 4)[:3]))",
        "warp": "wp.config.mode = 'debug'\n@wp.kernel\ndef k(a: A(dtype=wp.int32), o: A(dtype=wp.int32)):\n"
        "    o[0] = a[3]\nlaunch(ints(1, 2, 3, 4)[:3], ints(9))",
    },
    "store 300 into u8": {
        "numba": "@numba.njit\ndef k(a, o):\n    o[0] = a[0]\n"
        "o = ints(0, dtype=np.uint8); k(ints(300), o); print(o.tolist())",
        "taichi": "@ti.kernel\ndef k(a: ti.i32, o: A(ti.u8, 1)):\n    o[0] = ti.cast(a, ti.u8)\n"
        "o = ints(0, dtype=np.uint8); k(300, o); print(o.tolist())",
        "warp": "@wp.kernel\ndef k(a: A(dtype=wp.int32), o: A(dtype=wp.uint8)):\n    o[0] = wp.uint8(a[0])\n"
        "launch(ints(300), ints(0, dtype=wp.uint8))",
    },
    "store 300 into u8, without a cast": {
        "warp": "@wp.kernel\ndef k(a: A(dtype=wp.int32), o: A(dtype=wp.uint8)):\n    o[0] = a[0]\n"
        "launch(ints(300), ints(0, dtype=wp.uint8))",
    },
    "out[0] += a[i] from all invocations": {
        "numba": "@numba.njit(parallel=True)\ndef k(a, o):\n    for i in numba.prange(len(a)):\n"
        "        o[0] += a[i]\no = ints(0); k(np.ones(10**6, np.int32), o); print(o.tolist())",
        "taichi": "@ti.kernel\ndef k(a: A(ti.i32, 1), o: A(ti.i32, 1)):\n    for i in a:\n"
        "        o[0] += a[i]\no = ints(0); k(np.ones(10**6, np.int32), o); print(o.tolist())",
        "warp": "@wp.kernel\ndef k(a: A(dtype=wp.int32), o: A(dtype=wp.int32)):\n    o[0] += a[wp.tid()]\n"
        "launch(ints(*[1] * 1000), ints(0), dim=1000)",
    },
    "print in a kernel": {
        "numba": "@numba.njit\ndef k(a):\n    print(a)\nk(7)",
        "taichi": "@ti.kernel\ndef k(a: ti.i32):\n    print(a)\nk(7); ti.sync()",
        "warp": "@wp.kernel\ndef k(a: A(dtype=wp.int32)):\n    print(a[0])\n"
        "wp.launch(k, dim=1, inputs=[ints(7)], device='cpu')",
    },
    "run in an interpreter": {
        "numba": "numba.config.DISABLE_JIT = True  # as NUMBA_DISABLE_JIT=1 does\n@numba.njit\n"
        "def k():\n    pass\nprint(type(k).__name__)",
    },
    "fast_math by default": {"taichi": "print(ti.cfg.fast_math)"},
}


def shown(peer: str, cell: str) -> str:
    """What a process of its own printed last, the end of its error, or the signal that ended it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.py"  # all three read the source of their kernels again
        path.write_text(f"{HEADS[peer]}{cell}\n")
        done = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=False
        )
    if done.returncode < 0:
        return f"the process ended by signal {-done.returncode}"
    said = [line for line in (done.stdout, done.stderr)[done.returncode != 0].splitlines() if line.strip()]
    return f"{'refused: ' if done.returncode else ''}{said[-1].strip()[:150] if said else 'nothing'}"


def main() -> None:
    peers = sys.argv[1:] or list(HEADS)
    for peer in peers:
        package = "warp-lang" if peer == "warp" else peer
        print(f"{peer} {shown(peer, f'import importlib.metadata as m; print(m.version({package!r}))')}")
        for name, cells in CELLS.items():
            if peer in cells:
                print(f"  {name:<46}{shown(peer, cells[peer])}", flush=True)


if __name__ == "__main__":
    main()
