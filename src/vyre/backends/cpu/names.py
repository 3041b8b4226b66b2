"""Names that are known before anything is loaded."""

from __future__ import annotations

HOST = "host"
"""The processor that this runs on, with all it can do."""
