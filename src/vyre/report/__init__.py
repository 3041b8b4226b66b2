"""A certificate for people: one HTML page that needs nothing besides itself."""

from vyre.report.page import render

__all__ = ["render"]
