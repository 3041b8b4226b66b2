"""A page that runs a kernel in the browser by WebGPU and compares its bytes with those of another backend.

    python examples/browser/make.py --folder /tmp/page
    python -m http.server 8000 --bind 127.0.0.1 --directory /tmp/page

The kernel is that of `examples/mandelbrot.py`, written out by `vyre export`. The page needs no Python: it
reads the manifest, packs the scalars by their names, runs `kernel.wgsl`, and says whether all bytes are the
same. With `--floats native` the browser's own float instructions are taken, and the page shows what they are
worth.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from mandelbrot import TURNS, mandelbrot  # noqa: E402 - beside the folder of this file

WORKGROUP = (16, 4)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True, help="where to write the page")
    parser.add_argument("--backend", help="where the expected bytes are computed [the default]")
    parser.add_argument("--size", type=int, default=480, help="columns of the picture")
    parser.add_argument("--floats", default="soft", help="how floats are written, as in vyre export")
    options = parser.parse_args(arguments)
    folder = Path(options.folder)
    source = f"{HERE.parent / 'mandelbrot.py'}:mandelbrot"
    export = ["export", source, "--to", "wgsl", "--floats", options.floats, "--output-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "vyre", *export], check=True)
    columns, rows = options.size, options.size * 3 // 4
    scalars = {"left": -2.2, "top": -1.2, "step": 3.2 / columns}
    expected = mandelbrot(**scalars, out=(rows, columns), backend=options.backend)
    (folder / "expected.bin").write_bytes(expected.tobytes())
    case = {
        "scalars": {**scalars, "dim_m": rows, "dim_n": columns},
        "lengths": {"out": rows * columns},
        "workgroups": [-(-columns // WORKGROUP[0]), -(-rows // WORKGROUP[1]), 1],
        "picture": {"rows": rows, "columns": columns, "most": TURNS},
    }
    (folder / "case.json").write_text(json.dumps(case, indent=2) + "\n")
    for name in ("index.html", "page.js", "kernel.js"):
        shutil.copy(HERE / name, folder / name)
    print(f"python -m http.server 8000 --bind 127.0.0.1 --directory {folder}")


if __name__ == "__main__":
    main()
