"""A kernel that an earlier process made is found by all that it was made of, and by nothing less."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.backends.cpu import place
from vyre.frontend import kept

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(place.place() is None, reason="nothing is known of the processor here")

HELPER = """
import vyre
STEP = 5
def step(out: vyre.Out[vyre.u32], i: vyre.u32) -> None:
    out[i] += STEP
"""
SCRIPT = """
import sys, json, warnings, numpy as np, vyre, helpers
from vyre import In, Out, u32
FACTOR, TABLE, BYTES = 3, (1, 2, 3), np.arange(4, dtype=np.uint32)
def made(shift):
    def add(out: Out[u32], i: u32) -> None:
        out[i] += shift
    @vyre.kernel
    def scaled(a: In[u32], out: Out[u32]):
        i = vyre.invocation_id(0)
        out[i] = a[i] * FACTOR + TABLE[1] + BYTES[i & 3]
        add(out, i)
        helpers.step(out, i)
    return scaled
kernel = made(7)
r = kernel(np.arange(8, dtype=np.uint32))
again = "vyre.frontend.functions" in sys.modules
where = [str(x) for x in kernel.source_program.locations.values()]
print(json.dumps([r.tolist(), again, where, kernel.source_program.to_text()]))
"""
EXPECTED = [a * 3 + 2 + a % 4 + 7 + 5 for a in range(8)]


def run(folder: Path, script: str = SCRIPT, helper: str = HELPER, **environment: str) -> tuple[Any, ...]:
    """The results, whether the front end was needed, the source lines, and the program."""
    (folder / "script.py").write_text(script)
    (folder / "helpers.py").write_text(helper)
    there = {"VYRE_CACHE": str(folder / "kernels"), "XDG_CACHE_HOME": str(folder / "other"), **environment}
    done = subprocess.run(
        [sys.executable, str(folder / "script.py")],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **there},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(json.loads(done.stdout))


def test_the_second_process_needs_no_front_end(tmp_path: Path) -> None:
    first = run(tmp_path)
    second = run(tmp_path)
    assert first[:2] == (EXPECTED, True)
    assert second == (EXPECTED, False, *first[2:])


@pytest.mark.parametrize(
    ("old", "new", "by"),
    [
        ("FACTOR, TABLE, BYTES = 3,", "FACTOR, TABLE, BYTES = 4,", range(8)),
        ("(1, 2, 3)", "(1, 3, 3)", [1] * 8),
        ("np.arange(4, dtype=np.uint32)\n", "np.arange(4, dtype=np.uint32) + np.uint32(1)\n", [1] * 8),
        ("made(7)", "made(8)", [1] * 8),
        ("out[i] += shift", "out[i] += shift + 1", [1] * 8),
        ("* FACTOR", "* FACTOR + 1", [1] * 8),
        ("STEP = 5", "STEP = 6", [1] * 8),
        ("out[i] += STEP", "out[i] += STEP + 1", [1] * 8),
    ],
    ids=["global", "sequence", "array", "closure", "helper", "source", "module", "helper in a module"],
)
def test_whatever_a_kernel_is_made_of_counts(old: str, new: str, by: Any, tmp_path: Path) -> None:
    run(tmp_path)
    assert (old in SCRIPT) != (old in HELPER)
    found, again, *_ = run(tmp_path, SCRIPT.replace(old, new), HELPER.replace(old, new))
    assert found == [a + b for a, b in zip(EXPECTED, by, strict=True)]
    assert again


def test_a_kernel_that_moved_is_the_same_and_has_its_new_places(tmp_path: Path) -> None:
    _, _, where, program = run(tmp_path)
    moved = run(tmp_path, "\n\n" + SCRIPT, "\n" + HELPER)
    assert moved[:2] == (EXPECTED, False)
    assert moved[3] == program
    by = {"script.py": 2, "helpers.py": 1}
    for old, new in zip(where, moved[2], strict=True):
        file, line, column = old.split(":")
        assert new == f"{file}:{int(line) + by[os.path.basename(file)]}:{column}"


EVERYTHING = """
import sys, json, pickle, numpy as np, vyre
from vyre import In, InOut, Out, u32
from typing import Literal
@vyre.kernel
def mixed(a: In[u32], out: Out[u32], both: InOut[u32], by: u32 = 2):
    i = vyre.invocation_id(0)
    out[i] = a[i] * by
    for k in range(by):
        both[i] += a[i]
@vyre.kernel(workgroup_size=(4, 4))
def turned(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["n", "m"]]):
    i, j = vyre.grid(2)
    out[i, j] = a[j, i]
found = ["vyre.frontend.functions" in sys.modules]
A, B = np.arange(8, dtype=np.uint32), np.ones(8, np.uint32)

def told(call):
    try:
        result = call()
    except vyre.VyreError as error:
        found.append(f"{type(error).__name__}: {error}")
        return
    parts = result if isinstance(result, tuple) else (result,)
    found.append([np.asarray(x.numpy() if hasattr(x, "numpy") else x).tolist() for x in parts])

on = [vyre.to_device(x.copy()) for x in (A, A, B)]
calls = [
    lambda: mixed(A, both=B.copy()), lambda: mixed(A, 4, B.copy(), 5), lambda: mixed(A, None, B.copy()),
    lambda: mixed(A, B.copy(), B, copy=True), lambda: mixed(*on), lambda: mixed(*on, 3), lambda: mixed(A),
    lambda: mixed(A.astype(np.int64), both=B), lambda: mixed(A, both=B.copy(), workgroups=0),
    lambda: mixed(A, both=B.copy(), step_limit=1), lambda: mixed(A, both=B.copy(), by=-1),
    lambda: mixed(A, both=B.copy(), backend="reference"), lambda: mixed(A[::2], both=B.copy()),
    lambda: mixed(A.reshape(2, 4), both=B.copy()), lambda: mixed(A, A, B), lambda: mixed(out=3, both=B),
    lambda: pickle.loads(pickle.dumps(mixed))(A, both=B.copy()),
    lambda: turned(A.reshape(2, 4)), lambda: turned(A), lambda: turned(A.reshape(2, 4), out=(2, 4)),
]
for call in calls:
    told(call)
for kernel in (mixed, turned):
    found += [repr(kernel), kernel.program.to_text(), kernel.registry.get("none")]
    found += [str(place) for place in kernel.source_program.locations.values()]
found.append(str(mixed.check(A, both=B)))
found.append(str(mixed.trace(A, both=B, invocation=3)))
print(json.dumps(found))
"""


def test_every_form_of_a_call_is_the_same_on_a_kept_kernel(tmp_path: Path) -> None:
    needed, *first = run(tmp_path, EVERYTHING)
    kept_too, *second = run(tmp_path, EVERYTHING)
    assert (needed, kept_too) == (True, False)
    assert second == first


CALLED = """
import sys, json, numpy as np, vyre
from vyre import In, Out, u32
STEP = 3
def stepped(x: u32, by: u32 = 2) -> u32:
    if x > 3:
        return x + by * STEP
    return x
@vyre.kernel
def called(a: In[u32], out: Out[u32]):
    i = vyre.invocation_id(0)
    out[i] = stepped(a[i]) + vyre.call("primitive.bitwise.xor", a[i], u32(1))
A = np.arange(6, dtype=np.uint32)
found = [called(A).tolist(), "vyre.frontend.functions" in sys.modules]
found.append(called(vyre.to_device(A)).numpy().tolist())
print(json.dumps([*found, called.program.to_text(), called.source_program.to_text()]))
"""


def test_a_kernel_that_calls_ops_is_kept_where_all_are_known(tmp_path: Path) -> None:
    first, second = run(tmp_path, CALLED), run(tmp_path, CALLED)
    assert first[:3] == ([1, 1, 5, 5, 15, 15], True, [1, 1, 5, 5, 15, 15])
    assert second == (first[0], False, *first[2:])
    changed, needed, *_ = run(tmp_path, CALLED.replace("STEP = 3", "STEP = 4"))
    assert (changed, needed) == ([1, 1, 5, 5, 17, 17], True)
    package = tmp_path / "others-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: others\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[vyre.ops]\nnone = builtins:tuple\n")
    assert run(tmp_path, CALLED) == first
    assert run(tmp_path, CALLED) == first


WARNED = """
import sys, json, warnings, numpy as np, vyre
from vyre import In, Out, u32
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    @vyre.kernel
    def total(a: In[u32], out: Out[u32]):
        out[0] += a[vyre.invocation_id(0)]
total(np.arange(1, dtype=np.uint32), 1)
print(json.dumps([len(given), "vyre.frontend.functions" in sys.modules]))
"""


def test_a_warning_is_given_every_time(tmp_path: Path) -> None:
    assert run(tmp_path, WARNED) == run(tmp_path, WARNED) == (1, True)


def popcounts(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
    out[vyre.invocation_id(0)] = vyre.popcount(a[0]) + GIVEN


GIVEN: Any = 3
SIZE = (64, 1, 1)


def key(size: tuple[int, int, int] = SIZE) -> str | None:
    found = kept.find(popcounts, size, {})
    return found.key if found is not None else None


@pytest.mark.usefixtures("folder")
def test_a_key_has_all_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change is made beside the ones before it, and gives a key that was not there yet."""
    keys = [key(), key((32, 1, 1))]
    assert keys[0] == key()
    for given in (4, 4.0, True, "4", np.uint32(4), np.int32(4), (4,), [4], np.arange(3), helper, len):
        monkeypatch.setitem(globals(), "GIVEN", given)
        keys.append(key())
    for name, value in [("popcount", vyre.clz), ("invocation_id", vyre.local_id)]:
        monkeypatch.setattr(vyre, name, value)
        keys.append(key())
    here = place.place()
    assert here is not None
    monkeypatch.setattr(kept, "place", lambda: (*here[:-1], "a file of vyre's that was changed"))
    keys.append(key())
    monkeypatch.setattr(popcounts, "__defaults__", (1,))
    keys.append(key())
    monkeypatch.setitem(popcounts.__annotations__, "a", vyre.InOut[vyre.u32])
    keys.append(key())
    assert None not in keys
    assert len({*keys}) == len(keys)


def helper(i: vyre.u32) -> vyre.u32:
    return i


class Settings:
    step = 3


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "given",
    [Settings, Settings(), os, {"a": 1}, lambda: 3, vyre.op(helper), np.array([None]), np.exp, 10**5000],
    ids=lambda given: type(given).__name__,
)
def test_what_cannot_be_told_has_no_key(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "GIVEN", given)
    assert key() is None


def annotated(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
    out[vyre.invocation_id(0)] = a[0]


@pytest.mark.usefixtures("folder")
def test_an_annotation_that_computes_has_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.find(annotated, SIZE, {}) is not None
    monkeypatch.setitem(annotated.__annotations__, "a", "vyre.In[vyre.u32, len(vars())]")
    assert kept.find(annotated, SIZE, {}) is None


WRITTEN = """
import vyre

def written(out: vyre.Out[vyre.u32]) -> None:
    out[0] = (
1)
"""


@pytest.mark.usefixtures("folder")
def test_a_function_ends_where_python_ends_it(tmp_path: Path) -> None:
    """What is written behind the last instruction is in no code, and yet the front end reads it."""
    keys: dict[str, str | None] = {}
    ends = [
        "",
        "    x: vyre.u32\n",
        '    "text"\n',
        "    # a comment\n",
        "\n\nother = 1\n",
        '    """\na\n"""\n',
        "    x: (\nint)\n",
    ]
    for number, end in enumerate(ends):
        path = tmp_path / f"written_{number}.py"
        path.write_text(WRITTEN + end)
        names: dict[str, Any] = {}
        exec(compile(path.read_text(), path, "exec"), names)
        found = kept.find(names["written"], SIZE, {})
        keys[end] = found.key if found is not None else None
    plain, annotated, text, comment, other, *cut = keys.values()
    assert plain == comment == other
    assert len({plain, annotated, text, None}) == 4
    assert not {plain, annotated, text} & {*cut}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path / "kernels"))
