"""The V-code table and the rules behind it: every independent error of a program in one pass."""

from vyre.validate.checker import check, validate, validate_op
from vyre.validate.codes import CODES, Rule, explain

__all__ = ["CODES", "Rule", "check", "explain", "validate", "validate_op"]
