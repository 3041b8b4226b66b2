"""Searching bytes: regular expressions, and many words at once."""

from vyre.library.matching.regex import Regex
from vyre.library.matching.words import Words

__all__ = ["Regex", "Words"]
