"""What `vyre doctor` finds out: backends that are tried, software devices, extras, the cache.

A backend is tried in a process of its own, within a time limit: a driver that hangs or dies costs a line of
the answer and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # a first opening tries the device, which takes seconds on a busy machine
EXTRAS = {
    "conform": ("flint", "gmpy2", "ml_dtypes", "bitwuzla", "cvc5", "z3", "cryptography", "jinja2"),
    "onnx": ("onnx",),
    "ray": ("ray",),
    "safetensors": ("safetensors", "ml_dtypes"),
    "tables": ("pyarrow", "polars", "pandas"),
}
_VULKAN = ("/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d")
_FOR_VULKAN = "Vulkan, for wgpu and dawn"
_OPENCL = ("/etc/OpenCL/vendors",)
_CHROMIUM = ("/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome")


@dataclass(frozen=True, slots=True)
class Found:
    """One line: whether the thing is there, what it is, and what to do where it is not."""

    name: str
    works: bool
    what: str
    fix: str = ""


def tried(name: str, *, patience: float = PATIENCE) -> Found:
    """A backend, judged by a kernel that it ran."""
    command = [sys.executable, "-c", _TRIAL, name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return Found(
            name,
            False,
            f"a kernel of four elements did not end within {patience:g} s.",
            "update the driver of its device, or choose another backend.",
        )
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing.")
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
        return Found(
            name,
            False,
            f"its process ended with {how}: {last}",
            "update the driver of its device, or choose another backend.",
        )
    said: dict[str, Any] = json.loads(lines[-1])
    return Found(name, bool(said["works"]), str(said["what"]), str(said["fix"]))


_TRIAL = """
import json, sys
from vyre.cli.examination import trial
print(json.dumps(trial(sys.argv[1])))
"""


def trial(name: str) -> dict[str, Any]:
    """Runs a kernel on the backend, in the process that asks. The words are those of `Found`."""
    from vyre.backends.registry import available
    from vyre.errors import VyreError

    (status,) = (s for s in available(only=name))
    if not status.available:
        return {"works": False, "what": status.missing, "fix": status.install}
    try:
        right = _hamming(name)
    except VyreError as error:
        return {"works": False, "what": error.message, "fix": error.fix}
    if not right:
        return {
            "works": False,
            "what": f"{status.device} computes wrong bits.",
            "fix": f"`vyre certify {name}` says which.",
        }
    facts = [status.device, status.driver, status.toolchain]
    return {"works": True, "what": ", ".join(dict.fromkeys(f for f in facts if f)), "fix": ""}


def _hamming(name: str) -> bool:
    import numpy as np

    from vyre.backends.dispatch import dispatch
    from vyre.text import parse_program

    program = parse_program(
        "vyre 1\nworkgroup 64 1 1\nbuffer a: readonly U32 @0\nbuffer b: readonly U32 @1\n"
        "buffer out: readwrite U32 @2\nentry {\n  let i = invocation.x\n  out[i] = popcount(a[i] ^ b[i])\n}\n"
    )
    words = {"a": [1, 2, 3, 0xFFFFFFFF], "b": [3, 2, 0, 0], "out": [9, 9, 9, 9]}
    arrays = {key: np.array(values, np.uint32) for key, values in words.items()}
    return dispatch(program, arrays, backend=name)["out"].tolist() == [1, 0, 2, 32]


def software_devices() -> list[Found]:
    """Devices without hardware, by the files through which loaders find them."""
    lavapipe = _first(_VULKAN, "lvp_icd*.json")
    pocl = _first(_OPENCL, "pocl*.icd")
    shader = _first(_CHROMIUM, "vk_swiftshader_icd.json")
    return [
        Found("lavapipe", bool(lavapipe), lavapipe or _FOR_VULKAN, _apt("mesa-vulkan-drivers")),
        Found(
            "SwiftShader",
            bool(shader),
            f"{shader}: name it in VK_ICD_FILENAMES" if shader else _FOR_VULKAN,
            _apt("chromium"),
        ),
        Found("PoCL", bool(pocl), pocl or "OpenCL, for opencl", _apt("ocl-icd-libopencl1 pocl-opencl-icd")),
    ]


def extras() -> list[Found]:
    """What may be installed beside the backends."""
    found: list[Found] = []
    for name, modules in EXTRAS.items():
        absent = [module for module in modules if find_spec(module) is None]
        what = f"without {', '.join(absent)}" if absent else "installed"
        found.append(Found(name, not absent, what, f'pip install "vyre[{name}]"'))
    return found


def cache() -> Found:
    """The folder of compiled kernels."""
    from vyre.backends.kernel_cache import default_cache, why_none

    kept = default_cache()
    if kept is None:
        return Found("cache", False, f"{why_none()}.", "name a folder of yours in VYRE_CACHE.")
    usage = kept.usage()
    return Found("cache", True, f"{usage.folder}, {usage.entries} kernels, {usage.size / 1e6:.1f} MB")


def _first(folders: tuple[str, ...], pattern: str) -> str:
    named = os.environ.get("VK_ICD_FILENAMES", "") if pattern.endswith(".json") else ""
    files = [Path(part) for part in named.split(os.pathsep) if part]
    files += [path for folder in folders for path in sorted(Path(folder).glob(pattern))]
    return next((str(path) for path in files if path.match(pattern) and path.is_file()), "")


def _apt(packages: str) -> str:
    return f"apt-get install {packages}" if sys.platform == "linux" else "see the site of the project"
