"""A backend of one's own: the package that `vyre new-backend` writes, run, broken, and judged.

    python examples/own_backend.py

The package runs programs as NumPy code. Here it is written into a folder that is thrown away, imported, and
held to the golden rows twice: as it is, and with a shift that forgets to take the low 5 bits of its count.
docs/backend.md does the same by hand and goes on to a certificate.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import vyre
from vyre import CertifyPlan, In, Out, u32
from vyre.cli.new_backend_ import texts


@vyre.kernel
def halves(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] >> 1


def imported(folder: Path, name: str, *, wrong: bool) -> Any:
    """The class of a new package, with or without a mistake in its emitter."""
    for path, text in texts(name).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(">> ({} & 31)", ">> {}") if wrong else text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    module = __import__(f"vyre_{name}.backend", fromlist=["backend"])
    sys.path.remove(str(folder))
    return getattr(module, f"{name.capitalize()}Backend")


def main() -> None:
    words = np.array([1, 2, 0xFFFFFFFF], np.uint32)
    with tempfile.TemporaryDirectory() as folder:
        right = imported(Path(folder), "right", wrong=False)()
        wrong = imported(Path(folder), "wrong", wrong=True)()
    same = halves(words, backend=right).tobytes() == halves(words).tobytes()
    print(f"a kernel on it and on the default backend: {'equal' if same else 'different'}")
    for backend in (right, wrong):
        made = vyre.certify(backend, CertifyPlan(stages=("golden",)))
        print(f"golden rows on {backend.name}: {len(made.failures)} failures")
        for failure in made.failures[:1]:
            print(
                f"  {failure.case} on {', '.join(failure.inputs)}: {failure.actual}, not {failure.expected}"
            )


if __name__ == "__main__":
    main()
