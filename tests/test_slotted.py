"""The dataclasses of `vyre.slotted` behave as the standard ones do, and are quicker to define."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import time
import weakref
from abc import ABC, abstractmethod
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar

import pytest

from vyre import slotted

KINDS: tuple[Any, ...] = (dataclasses.dataclass, slotted.dataclass)
OPTIONS = (
    {"frozen": True, "slots": True},
    {"slots": True},
    {"frozen": True, "slots": True, "eq": False, "repr": False},
    {"frozen": True, "slots": True, "eq": False, "repr": False, "weakref_slot": True},
    {"frozen": True, "slots": True, "kw_only": True},
)


def point(kind: Any, **options: Any) -> Any:
    @kind(**options)
    class Point:
        """A place."""

        x: int
        y: list[int]
        label: str = "here"
        tags: tuple[int, ...] = slotted.field(default_factory=tuple[int, ...], compare=False)
        hidden: int = slotted.field(default=7, repr=False, init=False)
        count: ClassVar[int] = 3

        def moved(self) -> int:
            return self.x + self.hidden

    return Point


def seen(cls: Any) -> list[Any]:
    """What can be told of a class from outside."""
    a, b, c = cls(x=1, y=[2]), cls(x=1, y=[2], tags=(9,)), cls(x=1, y=[3], label="there")
    first = cls(x=1, y=(2,))
    facts: list[Any] = [a == b, a == c, a != c, a == 1, a.moved(), cls.count, cls.__doc__, cls.__match_args__]
    if cls.__repr__ is not object.__repr__:
        facts.append(repr(a))
    facts += [sorted(cls.__slots__), hasattr(a, "__dict__"), dataclasses.is_dataclass(cls)]
    facts += [[(f.name, f.init, f.repr, f.compare, f.kw_only) for f in dataclasses.fields(cls)]]
    facts += [dataclasses.asdict(b), dataclasses.replace(a, x=5).x, copy.copy(a).y, copy.deepcopy(a).y]
    facts += [cls.__hash__ is None, cls.__hash__ is not None and cls.__hash__ is not object.__hash__]
    if cls.__hash__ is not None and cls.__hash__ is not object.__hash__:
        facts.append(hash(first) == hash(cls(x=1, y=(2,), tags=(4,))))
    for attempt in ("x = 3", "other = 3", "del x"):
        try:
            if attempt.startswith("del"):
                del a.x
            else:
                setattr(a, attempt.split()[0], 3)
            facts.append("done")
        except (FrozenInstanceError, AttributeError, TypeError) as error:
            # Of a name that is not a field the standard one says something about `super`.
            facts.append((attempt, isinstance(error, FrozenInstanceError) or attempt.startswith("other")))
    for arguments in ((), (1,), (1, [2], "a", (), 5)):
        try:
            cls(*arguments)
            facts.append("made")
        except TypeError:
            facts.append("refused")
    try:
        facts.append(weakref.ref(b)() is b)
    except TypeError:
        facts.append("no weak references")
    return facts


@pytest.mark.parametrize("often", [0, 3, 1000], ids=["written at once", "written later", "never written"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_everything_that_can_be_seen_is_the_same(
    options: dict[str, bool], often: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slotted, "_OFTEN", often)
    standard, ours = (seen(point(kind, **options)) for kind in KINDS)
    assert ours == standard


@pytest.mark.parametrize("below", KINDS)
@pytest.mark.parametrize("above", KINDS)
def test_either_kind_inherits_from_the_other(below: Any, above: Any) -> None:
    @below(frozen=True, slots=True)
    class Base(ABC):
        x: int

        @abstractmethod
        def area(self) -> int: ...

    @above(frozen=True, slots=True)
    class Square(Base):
        scale: int = 1

        def area(self) -> int:
            return self.x * self.x * self.scale

    with pytest.raises(TypeError):
        Base(1)  # pyright: ignore[reportAbstractUsage]
    square = Square(3, 2)
    assert (square.area(), repr(square).split(".")[-1]) == (18, "Square(x=3, scale=2)")
    assert square == Square(3, 2) != Square(3)
    with pytest.raises(FrozenInstanceError):
        square.x = 4  # pyright: ignore[reportAttributeAccessIssue]


def test_a_constructor_that_is_not_written_yet_refuses_in_the_same_words() -> None:
    refused: list[list[str]] = []
    for kind in KINDS:
        cls = point(kind, frozen=True, slots=True)
        said: list[str] = []
        wrong: list[tuple[tuple[Any, ...], dict[str, int]]] = [
            ((1,), {}),
            ((1, 2), {"x": 3}),
            ((1, 2), {"z": 3}),
            ((1, 2, "a", (), 5), {}),
            ((1, 2), {"hidden": 3}),
        ]
        for given, named in wrong:
            with pytest.raises(TypeError) as error:
                cls(*given, **named)
            said.append(str(error.value))
        refused.append(said)
    assert refused[1] == refused[0]


@slotted.dataclass(frozen=True, slots=True)
class Kept:
    """At the top of a module, where pickle finds it."""

    name: str
    parts: tuple[int, ...]
    total: int = slotted.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.parts))


def test_a_frozen_one_is_pickled() -> None:
    kept = Kept("a", (1, 2))
    assert pickle.loads(pickle.dumps(kept)) == kept
    assert kept.total == 3


def test_what_a_class_says_itself_is_kept() -> None:
    @slotted.dataclass(frozen=True, slots=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own(1)), Own(1) == Own(2), hash(Own(1))) == ("own", True, 5)


def test_defaults_that_change_and_classes_without_slots_are_refused() -> None:
    with pytest.raises(ValueError, match="default_factory"):

        @slotted.dataclass(slots=True)
        class Shared:  # pyright: ignore[reportUnusedClass]
            x: list[int] = []  # noqa: RUF012

    with pytest.raises(TypeError):
        slotted.dataclass(frozen=True, slots=False)


def test_definitions_are_quick() -> None:
    def best(kind: Any) -> float:
        times: list[float] = []
        for _ in range(20):
            start = time.process_time_ns()
            point(kind, frozen=True, slots=True)
            times.append(time.process_time_ns() - start)
        return min(times)

    standard, ours = map(best, KINDS)
    assert ours < standard / 2
