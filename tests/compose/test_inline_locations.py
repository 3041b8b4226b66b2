"""Source locations follow their statements through inlining."""

from __future__ import annotations

from tests.compose.sample_ops import REGISTRY
from vyre.compose import inline
from vyre.errors import SourceLocation
from vyre.ir import If, Let, LitU32, Loop, Program, Store, Var
from vyre.ir.expr import call


def at(line: int) -> SourceLocation:
    return SourceLocation("kernel.py", line, 1)


def test_statements_keep_their_locations_at_their_new_paths() -> None:
    entry = [
        Let("a", LitU32(1)),
        If(
            call("t.local", Var("a")),
            (Let("b", call("t.local", Var("a"))), Store("o", LitU32(0), Var("b"))),
            (Store("o", LitU32(1), call("t.local", Var("a"))),),
        ),
        Loop("i", LitU32(0), LitU32(2), (Store("o", Var("i"), Var("a")),)),
    ]
    paths = [
        "entry[0]",
        "entry[1]",
        "entry[1].then[0]",
        "entry[1].then[1]",
        "entry[1].orelse[0]",
        "entry[2]",
        "entry[2].body[0]",
    ]
    locations = {path: at(line) for line, path in enumerate(paths, start=1)}
    result = inline(Program([], (1,), entry, locations=locations), REGISTRY)
    assert result.locations == {
        "entry[0]": at(1),
        "entry[1]": at(2),
        "entry[2]": at(2),
        "entry[2].then[0]": at(3),
        "entry[2].then[1]": at(3),
        "entry[2].then[2]": at(4),
        "entry[2].orelse[0]": at(5),
        "entry[2].orelse[1]": at(5),
        "entry[3]": at(6),
        "entry[3].body[0]": at(7),
    }


def test_hoisted_blocks_get_the_location_of_their_call_throughout() -> None:
    entry = [Let("r", call("t.loop", LitU32(1), LitU32(2)))]
    result = inline(Program([], (1,), entry, locations={"entry[0]": at(9)}), REGISTRY)
    expected = {"entry[0]", "entry[1]", "entry[1].body[0]", "entry[1].body[1]", "entry[2]"}
    assert result.locations == dict.fromkeys(expected, at(9))


def test_a_statement_without_a_location_stays_without() -> None:
    entry = [Let("r", call("t.local", LitU32(1))), Let("s", LitU32(2))]
    result = inline(Program([], (1,), entry, locations={"entry[1]": at(4)}), REGISTRY)
    assert result.locations == {"entry[2]": at(4)}
