"""torch tensors in and out of a kernel: no copy on the way, on the GPU where there is one.

pip install torch
python examples/torch_arrays.py --backend cuda
"""

from __future__ import annotations

import argparse
from typing import Any

import vyre
from vyre import In, Out, f32


@vyre.kernel
def gelu(x: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = 0.5 * x[i] * (1.0 + vyre.erf(x[i] * 0.70710678))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cpu")
    options = parser.parse_args(arguments)
    try:
        import torch
    except ImportError:
        print("torch is not installed; `pip install torch` and run this again")
        return
    device: Any = "cuda" if options.backend == "cuda" else "cpu"
    x = torch.linspace(-4, 4, 1001, device=device)
    y = torch.empty_like(x)
    gelu(x, y, backend=options.backend)  # written where it lies
    near = torch.nn.functional.gelu(x)
    print(f"{type(y).__name__} on {y.device}; at most {float((y - near).abs().max()):.1e} from torch's gelu")


if __name__ == "__main__":
    main()
