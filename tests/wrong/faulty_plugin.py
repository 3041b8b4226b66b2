"""A backend that can be named on the command line of the differential tool."""

from __future__ import annotations

from wrong_backends import Wrong, off_by_one_popcount


class Faulty(Wrong):
    def __init__(self) -> None:
        super().__init__(off_by_one_popcount)
