"""SHA-256 as `hashlib` has it, without loading all of OpenSSL, which takes longer than a short digest."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import sha256
else:

    def _found() -> Any:
        for name in ("_sha2", "_sha256"):  # since Python 3.12, and before
            try:
                return import_module(name).sha256
            except ImportError:
                continue
        return import_module("hashlib").sha256

    sha256 = _found()

__all__ = ["sha256"]
