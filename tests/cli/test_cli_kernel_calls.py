"""`vyre run|check|diff FILE.py:KERNEL` call a kernel as Python does: shapes, scalars, defaults, grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from vyre.cli.app import main
from vyre.cli.files import read_kernel
from vyre.cli.kernel_call import LARGEST_DRAWN, drawn_call

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.frontend.kernel import Kernel
    from vyre.frontend.translation import Bound

KERNELS = """
from typing import Literal

import vyre
from vyre import In, InOut, Out, boolean, f32, i32, u32, vec2

@vyre.kernel(workgroup_size=(4, 4))
def transpose(a: In[f32, Literal["m", "n"]], out: Out[f32, Literal["n", "m"]]):
    i, j = vyre.grid(2)
    out[i, j] = a[j, i]

@vyre.kernel
def scaled(a: In[f32], strength: f32, out: Out[f32], bias: f32 = 1.0):
    i = vyre.invocation_id(0)
    out[i] = a[i] * strength + bias

@vyre.kernel
def mixed(n: u32, k: i32, yes: boolean, v: vec2, a: In[u32, Literal["n", 3]], sums: InOut[u32]):
    i = vyre.invocation_id(0)
    if i < len(sums):
        sums[i] = sums[i] + n + vyre.cast(k, u32) + v[0] + v[1] + a[i, 2]
        if yes:
            sums[i] = sums[i] * 2

@vyre.kernel(workgroup_size=(4, 4))
def filled(value: u32, out: Out[u32, Literal["m", "n"]]):
    i, j = vyre.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = value

@vyre.kernel(workgroup_size=(2, 2))
def along_y(out: Out[u32]):
    out[vyre.invocation_id(1)] = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("kernels")
    (found / "kernels.py").write_text(KERNELS)
    np.save(found / "a.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    np.save(found / "u.npy", np.arange(6, dtype=np.uint32).reshape(2, 3))
    return found


def called(folder: Path, command: str, kernel: str, *words: str) -> Any:
    placed = [word.replace("=@", f"={folder}/") for word in words]
    return CliRunner().invoke(main, [command, f"{folder / 'kernels.py'}:{kernel}", *placed])


def result(folder: Path, kernel: str, *words: str, name: str = "out") -> np.ndarray[Any, Any]:
    done = called(folder, "run", kernel, *words, "--output", f"{name}=@{name}.npy")
    assert done.exit_code == 0, done.output
    return np.load(folder / f"{name}.npy")


def test_dimensions_come_from_the_arrays_given(folder: Path) -> None:
    found = result(folder, "transpose", "--input", "a=@a.npy")
    assert found.tolist() == np.load(folder / "a.npy").T.tolist()
    checked = called(folder, "check", "transpose", "--input", "a=@a.npy")
    assert (checked.exit_code, "no findings" in checked.output) == (0, True), checked.output


def test_scalars_are_set_and_defaults_count(folder: Path) -> None:
    a = np.load(folder / "a.npy")
    given = ("--input", "a=@a.npy", "--set", "strength=0.5")
    assert result(folder, "scaled", *given).tolist() == (a * 0.5 + 1).tolist()
    assert result(folder, "scaled", *given, "--set", "bias=-2").tolist() == (a * 0.5 - 2).tolist()
    checked = called(folder, "check", "scaled", *given)
    assert (checked.exit_code, "no findings" in checked.output) == (0, True), checked.output


def test_every_type_of_scalar_and_a_writable_input_that_is_left_out(folder: Path) -> None:
    words = [f"--set={text}" for text in ("n=0x10", "k=-3", "yes=true", "v=1,2")]
    found = result(folder, "mixed", "--input", "a=@u.npy", "--length", "sums=2", *words, name="sums")
    assert found.tolist() == [2 * (16 - 3 + 3 + 2), 2 * (16 - 3 + 3 + 5)]


def test_a_shape_that_no_input_says_is_a_length(folder: Path) -> None:
    found = result(folder, "filled", "--set", "value=7", "--length", "out=5,6")
    assert (found.shape, set(found.ravel().tolist())) == ((5, 6), {7})


@pytest.mark.parametrize(
    ("kernel", "words", "said", "fix"),
    [
        ("scaled", ["--input=a=@a.npy"], "the scalar 'strength'", "pass --set strength=0.5"),
        ("scaled", ["--set=strength=1"], "buffer 'a' is missing", "pass --input a=FILE"),
        ("scaled", ["--set=strenght=1"], "no scalar 'strenght'", "name one of strength, bias"),
        ("scaled", ["--set=a=1"], "'a' is a buffer", "pass it by --input a=FILE"),
        ("scaled", ["--set=strength=loud"], "'loud' is not a F32", "--set strength=0.5"),
        ("scaled", ["--set=strength=1", "--set=strength=2"], "names 'strength' twice", "keep one"),
        ("scaled", ["--set=strength"], "is not NAME=VALUE", "strength=0.3"),
        ("mixed", ["--set=yes=maybe"], "'maybe' is not a Bool", "--set yes=true"),
        ("mixed", ["--set=v=1;2"], "is not a Vec2U32", "--set v=1,2"),
        ("mixed", ["--set=n=0.3"], "'0.3' is not a U32", "--set n=1"),
        ("filled", ["--set=value=-1", "--length=out=2,2"], "does not fit into U32", "a number from 0 to"),
        ("filled", ["--set=value=1"], "the shape (m, n) of 'out'", "--length out=m,n"),
        ("filled", ["--set=value=1", "--length=out=2x2"], "is not a shape", "out=32,64"),
        ("along_y", [], "how long the buffer 'out'", "--length out=1024"),
        ("along_y", ["--length=out=4"], "along y or z", "pass --workgroups"),
        ("transpose", ["--set=m=2", "--input=a=@a.npy"], "no scalar 'm'", "leave out --set"),
    ],
)
def test_what_is_missing_or_wrong_is_named_with_the_option_to_write(
    folder: Path, kernel: str, words: list[str], said: str, fix: str
) -> None:
    for command in ("run", "check"):
        done = called(folder, command, kernel, *words)
        assert done.exit_code == 1, done.output
        message, _, mended = done.output.partition("Fix:")
        assert said in message, done.output
        assert fix in mended, done.output


def test_a_program_has_no_scalars(folder: Path) -> None:
    (folder / "scaled.vyre").write_text(called(folder, "print", "scaled").output)
    done = CliRunner().invoke(main, ["run", str(folder / "scaled.vyre"), "--set", "strength=1"])
    assert (done.exit_code, "no scalars" in done.output) == (1, True), done.output


def dimensions(kernel: Kernel, bound: Bound) -> dict[str, int]:
    """What the program reads as its dimensions."""
    words = np.frombuffer(bound.buffers["params_u32"], np.uint32)
    return {row["name"]: int(words[row["offset"] // 4]) for row in kernel.told["params_u32"]["scalars"]}


@pytest.mark.parametrize("seed", range(6))
def test_a_drawn_call_is_one_that_python_takes(folder: Path, seed: int) -> None:
    _, kernel = read_kernel(f"{folder / 'kernels.py'}:transpose")
    assert kernel is not None
    bound = drawn_call(kernel, {}, {}, None, seed=seed, length=64)
    a = bound.buffers["a"]
    m, n = a.shape
    assert (1 <= m <= LARGEST_DRAWN, 1 <= n <= LARGEST_DRAWN) == (True, True)
    assert dimensions(kernel, bound) == {"dim_m": m, "dim_n": n}
    assert bound.workgroups == (-(-m // 4), -(-n // 4), 1)
    assert kernel(a).tobytes() == np.ascontiguousarray(a.T).tobytes()


def test_drawn_sizes_differ_between_seeds_and_given_arrays_say_theirs(folder: Path) -> None:
    _, kernel = read_kernel(f"{folder / 'kernels.py'}:transpose")
    assert kernel is not None
    drawn = (drawn_call(kernel, {}, {}, None, seed=seed, length=64) for seed in range(8))
    assert len({bound.buffers["a"].shape for bound in drawn}) > 4
    given = {"a": np.load(folder / "a.npy")}
    bound = drawn_call(kernel, given, {}, None, seed=0, length=64)
    assert dimensions(kernel, bound) == {"dim_m": 2, "dim_n": 3}


@pytest.mark.parametrize(
    ("kernel", "words", "grid"),
    [
        ("transpose", ["--input=a=@a.npy"], "1 x 1 x 1"),
        ("scaled", ["--length=130"], "3 x 1 x 1"),
        ("mixed", ["--set=n=1"], "1 x 1 x 1"),
        ("filled", ["--workgroups=2,3"], "2 x 3 x 1"),
        ("along_y", ["--workgroups=1,2"], "1 x 2 x 1"),
    ],
)
def test_diff_runs_the_call_on_both(folder: Path, kernel: str, words: list[str], grid: str) -> None:
    done = called(folder, "diff", kernel, "cpu", "reference", *words)
    assert (done.exit_code, grid in done.output) == (0, True), done.output
