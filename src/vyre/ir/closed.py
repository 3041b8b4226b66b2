"""Closed enumerations: their members are keys of every table in the package."""

from enum import Enum


class ClosedEnum(Enum):
    """An enumeration whose members hash by identity, which they have for ever.

    `Enum` hashes in Python, by name, which shows in the construction of every node.
    """

    __hash__ = object.__hash__
