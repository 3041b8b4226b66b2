"""Misuse of the command line: every mistake ends in a sentence with `Fix:`, and `--json` stays JSON."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from vyre.cli import main

PROGRAM = """
vyre 1
workgroup 64 1 1
buffer a: readonly U32 @0
buffer out: readwrite U32 @1
entry { out[invocation.x] = popcount(a[invocation.x]) }
"""


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.vyre"
    path.write_text(PROGRAM)
    np.save(tmp_path / "a.npy", np.array([1, 3, 7], np.uint32))
    return path


def process(*args: str | Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "vyre", *map(str, args)], stdout=stdout, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    "args",
    [
        ["nothing"],
        ["ops", "--nothing"],
        ["run"],
        ["validate", "one", "two"],
        ["run", "file", "--input"],
    ],
)
def test_a_wrong_command_line_says_what_to_read(args: list[str]) -> None:
    plain = run(*args)
    assert plain.exit_code == 2
    assert "Fix: see `vyre" in plain.output
    record = json.loads(run(*args[:1], "--json", *args[1:]).output)
    assert "--help" in record["fix"]


def test_no_command_shows_the_help() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Example: vyre run" in result.output


def test_an_output_is_as_long_as_the_longest_input(program: Path, tmp_path: Path) -> None:
    """The example in the help works on the program in the README, whose output is sized by the host."""
    result = run("run", program, "--input", f"a={tmp_path}/a.npy", "--output", f"out={tmp_path}/out.npy")
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "out.npy").tolist() == [1, 2, 3]


def test_the_length_of_an_output_can_be_given(program: Path, tmp_path: Path) -> None:
    result = run("run", program, "--input", f"a={tmp_path}/a.npy", "--length", "out=2", "--json")
    assert json.loads(result.output)["buffers"][0]["first"] == [1, 2]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "--input a=FILE"),
        (["--input", "a={}/a.npy", "--input", "a={}/a.npy"], "keep one"),
        (["--input", "a={}/a.npy", "--length", "out=" + "9" * 5000], "out=1024"),
        (["--input", "a={}/a.npy", "--length", "a=4"], "name one of out"),
        (["--input", "a={}/a.npy", "--length", "out=3", "--input", "out={}/a.npy"], "keep one"),
        (["--input", "a={}/a.npy", "--workgroups", "9" * 5000], "8,8,1"),
        (["--input", "a={}/a.npy", "--workgroups", "٣"], "8,8,1"),
        (["--input", "a={}/archive.npy"], "numpy.save"),
        (["--input", "a={}/a.npy", "--output", "nothing=x.npy"], "name one of out"),
    ],
)
def test_a_wrong_run_is_explained_in_words_of_the_command_line(
    program: Path, tmp_path: Path, options: list[str], says: str
) -> None:
    with (tmp_path / "archive.npy").open("wb") as file:
        np.savez(file, a=np.zeros(1), b=np.zeros(1))
    result = run("run", program, *(o.format(tmp_path) for o in options), "--json")
    assert result.exit_code == 1
    assert says in json.loads(result.output)["fix"]


def test_nothing_gives_a_length(tmp_path: Path) -> None:
    path = tmp_path / "p.vyre"
    path.write_text("vyre 1 workgroup 1 buffer out: readwrite U32 @0 entry { out[0] = 1 }")
    assert "--length out=1024" in run("run", path).output


def test_infinities_and_nan_stay_json(tmp_path: Path) -> None:
    path = tmp_path / "p.vyre"
    path.write_text(
        "vyre 1 workgroup 1 buffer out: readwrite F32[3] @0\n"
        "entry { out[0] = f32(0x7FC00000) out[1] = f32(0xFF800000) out[2] = f32(1.5) }"
    )
    text = run("run", path, "--json", "--workgroups", "1").output

    def refuse(word: str) -> None:
        raise AssertionError(word)

    record = json.loads(text, parse_constant=refuse)
    assert record["buffers"][0]["first"] == ["nan", "-inf", 1.5]


def test_a_code_is_found_however_it_is_typed_as_json_too() -> None:
    assert json.loads(run("explain", "v23", "--json").output)["code"] == "V023"
    assert run("explain", "V" + "9" * 5000).exit_code == 1


def test_writing_the_wire_form_reports_json(program: Path, tmp_path: Path) -> None:
    record = json.loads(run("print", program, "--wire", tmp_path / "p.bin", "--json").output)
    assert record == {"file": str(tmp_path / "p.bin"), "bytes": (tmp_path / "p.bin").stat().st_size}


def test_a_link_is_written_through_and_a_device_is_never_replaced(program: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.bin"
    link.symlink_to(tmp_path / "target.bin")
    assert run("print", program, "--wire", link).exit_code == 0
    assert link.is_symlink()
    assert (tmp_path / "target.bin").stat().st_size > 0
    assert list(tmp_path.glob("*.part")) == []
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    assert run("print", program, "--wire", device).exit_code == 0
    assert Path("/dev/null").is_char_device()


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_no_traceback(program: Path) -> None:
    result = run("print", program, "--wire", FULL)
    assert result.exit_code == 1
    assert "No space left" in result.output
    with FULL.open("wb") as full:
        command = process("ops", stdout=full.fileno())
        _, stderr = command.communicate(timeout=60)
    assert command.returncode == 1
    assert "No space left" in stderr
    assert "Fix:" in stderr
    assert "Traceback" not in stderr


def test_a_closed_pipe_is_quiet() -> None:
    command = process("ops")
    assert command.stdout is not None
    command.stdout.readline()
    command.stdout.close()
    command.wait(timeout=60)
    assert command.stderr is not None
    assert "Traceback" not in command.stderr.read()
    command.stderr.close()
    assert command.returncode in (0, 1, -signal.SIGPIPE)


def test_ctrl_c_is_a_sentence_and_code_130(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = tmp_path / "slow.py"
    # A runner in the background hands down an ignored SIGINT; a person's terminal does not.
    script.write_text(
        "import signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"open({str(ready)!r}, 'w').close()\n"
        "time.sleep(60)\n"
    )
    command = process("validate", f"{script}:k")
    deadline = time.monotonic() + 60
    while not ready.exists() and time.monotonic() < deadline:
        assert command.poll() is None
    time.sleep(0.2)  # where the file is closed an interrupt can be ignored
    command.send_signal(signal.SIGINT)
    _, stderr = command.communicate(timeout=60)
    assert command.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr


KERNELS = """
import vyre
from vyre import Out, u32

print("noise")

@vyre.kernel
def good(out: Out[u32]):
    out[0] = 1

class Odd:
    program = 5
"""
BROKEN = """
@vyre.kernel
def bad(out: Out[u32]):
    if vyre.invocation_id(0) == 1:
        vyre.barrier()
"""


def test_a_python_file_may_print_and_hold_broken_kernels(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    good = CliRunner().invoke(main, ["validate", f"{path}:good", "--json"])
    assert json.loads(good.stdout) == {"valid": True, "diagnostics": []}
    assert "noise" in good.stderr
    for name in ("missing", "Odd"):
        result = run("validate", f"{path}:{name}")
        assert result.exit_code == 1
        assert "It has good." in result.output
    path.write_text(KERNELS + BROKEN)
    bad = CliRunner().invoke(main, ["validate", f"{path}:bad", "--json"])
    assert bad.exit_code == 1
    (diagnostic,) = json.loads(bad.stdout)["diagnostics"]
    assert diagnostic["code"] == "V010"
    assert diagnostic["location"].startswith(f"{path}:")


def test_a_python_file_that_exits_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("import sys\nsys.exit(0)\n")
    result = run("validate", f"{path}:k")
    assert result.exit_code == 1
    assert "__main__" in result.output


def test_an_endless_file_is_not_read_to_its_end() -> None:
    endless = Path("/dev/zero")
    if not endless.exists():
        pytest.skip("this system has no /dev/zero")
    assert "no program within the limits" in run("validate", endless).output


def test_names_with_odd_characters(tmp_path: Path) -> None:
    for name in ("a\nb", "größe", "a\0b"):
        result = run("validate", tmp_path / name)
        assert result.exit_code == 1
        assert "Fix:" in result.output
