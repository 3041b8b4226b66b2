"""Expressions in normal form: constants folded, then the rules of the table until none applies.

The result of a rule is simplified again. Every rule lowers `node_cost` summed over the tree (or, for the
rules that only move a literal to the right, the number of literals on the left), so this ends. A rule
that drops, repeats or reorders operands is not applied where one of them contains an atomic; loads may
be dropped, and moved past each other, because nothing else in such an expression changes memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var
from vyre.ir.walk import rebuild
from vyre.optimize.fold import Constant, constant, evaluate, fold
from vyre.optimize.rule import CONSTANTS, Head, Rule, head

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.ir.environment import Types

Binding = dict[str, Expr]


class RuleIndex:
    """Rules by the operation they look for and the operations they look for in its operands."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules: dict[Head, list[Rule]] = {}
        for rule in rules:
            key = head(rule.pattern)
            assert key is not None, f"{rule.name} has no operation to look for"
            self._rules.setdefault(key, []).append(rule)
        self._found: dict[tuple[object, ...], tuple[_Entry, ...]] = {}

    def candidates(self, expr: Expr) -> tuple[_Entry, ...]:
        """The rules that may apply, in the order of the table, each with its `keeps_order`."""
        key = head(expr)
        if key not in self._rules:
            return ()
        shape = (key, *[_shape(child) for child in expr.children])
        found = self._found.get(shape)
        if found is None:
            fitting = (rule for rule in self._rules[key] if _may_match(rule.pattern, expr))
            found = tuple((rule, rule.keeps_order) for rule in fitting)
            self._found[shape] = found
        return found


_Entry = tuple[Rule, bool]


def _shape(expr: Expr) -> Head | bool | None:
    """What a pattern can see of an operand at a glance: its operation, or that it is a literal."""
    return True if not expr.children and constant(expr) is not None else head(expr)


def _may_match(pattern: Expr, expr: Expr) -> bool:
    for part, child in zip(pattern.children, expr.children, strict=True):
        shape = _shape(child)
        if isinstance(part, Var):
            if part.name in CONSTANTS and shape is not True:
                return False
        elif shape != _shape(part):
            return False
    return True


class Simplifier:
    """Applies the rules. Results are kept, so a node shared by many is simplified once."""

    def __init__(self, rules: RuleIndex, types: Types) -> None:
        self._rules = rules
        self._types = types
        self._normal: dict[Expr, Expr] = {}
        self.applied: dict[str, int] = {}
        """How often each rule was applied; for tests and curious readers."""

    def simplify(self, root: Expr) -> Expr:
        normal = self._normal
        forward: dict[Expr, Expr] = {}
        stack = [root]
        while stack:
            expr = stack[-1]
            if expr in normal:
                stack.pop()
                continue
            missing = [child for child in expr.children if child not in normal]
            if missing:
                stack.extend(reversed(missing))
                continue
            target = forward.get(expr)
            if target is None:
                built = rebuild(expr, tuple(normal[child] for child in expr.children))
                step = self._step(built)
                if step is not built:
                    forward[expr] = step
                    stack.append(step)
                    continue
                normal[built] = target = built
            normal[expr] = normal[target]
            stack.pop()
        return normal[root]

    def _step(self, expr: Expr) -> Expr:
        folded = fold(expr)
        if folded is not expr:
            return folded
        for rule, keeps_order in self._rules.candidates(expr):
            binding = match(rule, expr, self._types)
            if binding is None or not (keeps_order or self._is_pure(expr)):
                continue
            self.applied[rule.name] = self.applied.get(rule.name, 0) + 1
            return instantiate(rule.replacement, binding)
        return expr

    def _is_pure(self, expr: Expr) -> bool:
        return not self._types.has_atomic(expr)


def match(rule: Rule, root: Expr, types: Types) -> Binding | None:
    """What each metavariable stands for where the rule applies to `root` itself, else None."""
    binding: Binding = {}
    stack = [(rule.pattern, root)]
    while stack:
        pattern, expr = stack.pop()
        if isinstance(pattern, Var):
            known = binding.setdefault(pattern.name, expr)
            if known is not expr or not _fits(rule, pattern.name, expr, types):
                return None
        elif not pattern.children:
            if pattern is not expr:
                return None
        elif head(pattern) != head(expr):
            return None
        else:
            stack.extend(zip(pattern.children, expr.children, strict=True))
    if rule.when is not None and not evaluate(rule.when, _constants(binding)).bits:
        return None
    return binding


def _fits(rule: Rule, name: str, expr: Expr, types: Types) -> bool:
    if name in CONSTANTS:
        known = constant(expr)
        return known is not None and known.type in rule.types_of(name)
    return types.type(expr) in rule.types_of(name)


def _constants(binding: Mapping[str, Expr]) -> dict[str, Constant]:
    found: dict[str, Constant] = {}
    for name in CONSTANTS & binding.keys():
        value = constant(binding[name])
        assert value is not None
        found[name] = value
    return found


def instantiate(replacement: Expr, binding: Mapping[str, Expr]) -> Expr:
    """The replacement with every metavariable replaced by what it stands for.

    Recurses over the replacement, which is as small as the rule that was written down.
    """
    if isinstance(replacement, Var):
        return binding[replacement.name]
    if not replacement.children:
        return replacement
    return rebuild(replacement, tuple(instantiate(child, binding) for child in replacement.children))
