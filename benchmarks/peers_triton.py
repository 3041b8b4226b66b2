"""What Triton does with the rows of docs/peers.md, one line a cell. It needs a GPU, torch and Triton.

    python benchmarks/peers_triton.py

Every kernel is compiled and run on its own: what Triton refuses is printed as its first line of error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

_HEAD = """
import torch, triton, triton.language as tl
def ints(*values, dtype=torch.int32):
    return torch.tensor(values, dtype=dtype, device="cuda")
"""

CELLS = {
    "break": (
        "def k(out):\n    n = 0\n    for i in range(10):\n        if i > 3:\n            break\n"
        "        n += 1\n    tl.store(out, n)",
        "o = ints(0); k[(1,)](o); print(o.tolist())",
    ),
    "continue": (
        "def k(out):\n    n = 0\n    for i in range(10):\n        if i > 3:\n            continue\n"
        "        n += 1\n    tl.store(out, n)",
        "o = ints(0); k[(1,)](o); print(o.tolist())",
    ),
    "while": (
        "def k(a, out):\n    n = tl.load(a)\n    t = 0\n    while n > 1:\n        n = n // 2\n"
        "        t += 1\n    tl.store(out, t)",
        "o = ints(0); k[(1,)](ints(1000), o); print(o.tolist())",
    ),
    "private array, index known at run time": (
        "def k(a, out):\n    t = tl.zeros((4,), tl.int32)\n    t[tl.load(a)] = 1\n    tl.store(out, t[0])",
        "o = ints(0); k[(1,)](ints(2), o); print(o.tolist())",
    ),
    "tuple of constants, index known at run time": (
        "def k(a, out):\n    t: tl.constexpr = (2, 3, 5, 7)\n    tl.store(out, t[tl.load(a)])",
        "o = ints(0); k[(1,)](ints(2), o); print(o.tolist())",
    ),
    "a[i, j]": (
        "def k(a, out):\n    tl.store(out, a[0, 1])",
        "o = ints(0); k[(1,)](torch.ones(2, 2, device='cuda'), o); print(o.tolist())",
    ),
    "-7 // 2, -7 % 2 on i32": (
        "def k(a, b, out):\n    tl.store(out, tl.load(a) // tl.load(b))\n"
        "    tl.store(out + 1, tl.load(a) % tl.load(b))",
        "o = ints(0, 0); k[(1,)](ints(-7), ints(2), o); print(o.tolist())",
    ),
    "u32 5 // 0": (
        "def k(a, b, out):\n    tl.store(out, tl.load(a) // tl.load(b))",
        "u = torch.uint32; o = ints(0, dtype=u); "
        "k[(1,)](ints(5, dtype=u), ints(0, dtype=u), o); print(o.tolist())",
    ),
    "u32 2**31 * 2": (
        "def k(a, b, out):\n    tl.store(out, tl.load(a) * tl.load(b))",
        "u = torch.uint32; o = ints(1, dtype=u); "
        "k[(1,)](ints(2**31, dtype=u), ints(2, dtype=u), o); print(o.tolist())",
    ),
    "read one past the end, with a mask": (
        "def k(a, out):\n    i = tl.arange(0, 4)\n    tl.store(out + i, tl.load(a + i, mask=i < 3))",
        "o = ints(9, 9, 9, 9); k[(1,)](ints(1, 2, 3), o); print(o.tolist())",
    ),
    "read one past the end, without a mask": (
        "def k(a, out):\n    i = tl.arange(0, 4)\n    tl.store(out + i, tl.load(a + i))",
        "o = ints(9, 9, 9, 9); k[(1,)](ints(1, 2, 3, 4)[:3], o); print(o.tolist())",
    ),
    "store 300 into u8": (
        "def k(a, out):\n    tl.store(out, tl.load(a))",
        "o = ints(0, dtype=torch.uint8); k[(1,)](ints(300), o); print(o.tolist())",
    ),
    "out[0] += a[i] from all programs": (
        "def k(a, out):\n    tl.store(out, tl.load(out) + tl.load(a + tl.program_id(0)))",
        "o = ints(0); k[(1000,)](torch.ones(1000, dtype=torch.int32, device='cuda'), o); print(o.tolist())",
    ),
    "print in a kernel": (
        "def k(a):\n    tl.device_print('a', tl.load(a))",
        "k[(1,)](ints(7)); torch.cuda.synchronize()",
    ),
}


def shown(kernel: str, call: str, *, interpret: bool = False) -> str:
    """What a process of its own printed, or the last line of its error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.py"  # Triton reads the source of its kernels again
        path.write_text(f"{_HEAD}@triton.jit\n{kernel}\n{call}\n")
        environment = {**os.environ, **({"TRITON_INTERPRET": "1"} if interpret else {})}
        done = subprocess.run(
            [sys.executable, str(path)],
            env=environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or ["nothing"]
    return lines[-1][:160] if done.returncode == 0 else f"refused: {lines[-1][:160]}"


def main() -> None:
    version = "import torch, triton; print('Triton', triton.__version__, 'torch', torch.__version__)"
    subprocess.run([sys.executable, "-c", version], check=False)
    for name, (kernel, call) in CELLS.items():
        try:
            found = shown(kernel, call)
        except subprocess.TimeoutExpired:
            found = "did not end within a minute"
        print(f"{name:<46}{found}", flush=True)
    kernel, call = CELLS["while"]
    print(f"{'run in an interpreter':<46}{shown(kernel, call, interpret=True)}")


if __name__ == "__main__":
    main()
