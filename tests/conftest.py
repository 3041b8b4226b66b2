"""Tests compile anew: kernels kept on disk would hide what a compiler does today."""

from __future__ import annotations

import os

os.environ.setdefault("VYRE_CACHE", "off")
