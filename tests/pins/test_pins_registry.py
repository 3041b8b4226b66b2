"""What the registry promises is what it was."""

from __future__ import annotations

from tests.pins.doors import registry_digests
from tests.pins.pinned import HOW_TO_UPDATE, differing


def test_ops_promise_the_same(update_golden: bool) -> None:
    """Types, definition, laws, non-laws, classes and boundaries of each op, and the digest of them all."""
    names = differing("registry", registry_digests(), update=update_golden)
    assert not names, f"the promises of {', '.join(names)} differ. {HOW_TO_UPDATE}"
