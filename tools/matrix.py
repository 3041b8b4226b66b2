"""Runs the fast tests on several Pythons with the lowest versions of pyproject.toml and with the pinned ones.

    python tools/matrix.py 3.11 3.12 3.13
    python tools/matrix.py /opt/python3.14/bin/python3.14 --versions lowest -- -m fast tests/ir

Each pair has its environment under `.matrix/`. A Python that the machine lacks is named, not a failure; the
exit code is 1 when an environment cannot be installed or a test fails. What follows `--` replaces `-m fast`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv")
# Wheels alone: where an old version has none for a Python, the lowest that has one is the lowest there.
CHOICES = {
    "lowest": ["--resolution", "lowest-direct", "--only-binary", ":all:"],
    "pinned": ["--constraints", "constraints.txt"],
}


def command_of(wanted: str) -> str:
    return wanted if os.sep in wanted else f"python{wanted}"


def interpreter(wanted: str) -> Path | None:
    """The Python of a version such as 3.12, or of a path; None where there is none that runs."""
    # Where python3.12 is a shim of pyenv, this is how to ask it for that version.
    environment = {**os.environ, "PYENV_VERSION": wanted}
    command = [command_of(wanted), "-c", "import sys; print(sys.executable)"]
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return Path(run.stdout.strip()) if run.returncode == 0 else None


def environment_of(python: Path, folder: Path, versions: str) -> Path | None:
    """Installs vyre with every extra into the folder; the Python there, or None when that failed."""
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [UV, "pip", "install", "--quiet", "--python", inside]
    commands = [
        [*install, *CHOICES[versions], "-r", "pyproject.toml", "--all-extras", "--group", "dev"],
        [*install, "--no-deps", "--editable", "."],
    ]
    if not inside.exists():
        commands.insert(0, [UV, "venv", "--quiet", "--python", python, folder])
    for command in commands:
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            return None
    return inside


def outcome(python: Path, versions: str, tests: list[str]) -> str:
    """`passed`, or in which step it failed."""
    inside = environment_of(python, ROOT / ".matrix" / f"{python.name}-{versions}", versions)
    if inside is None:
        return "FAILED: its versions cannot be installed"
    command = [inside, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "-p", "no:cacheprovider", *tests]
    return "FAILED: tests" if subprocess.run(command, cwd=ROOT, check=False).returncode else "passed"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="+", help="versions such as 3.12, or paths of interpreters")
    parser.add_argument("--versions", choices=sorted(CHOICES), action="append", help="both unless given")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:end])
    tests = sys.argv[end + 1 :] or ["-m", "fast"]
    lines: list[str] = []
    for wanted in options.pythons:
        name = command_of(wanted)
        python = interpreter(wanted)
        if python is None:
            lines.append(f"{name}: not on this machine")
            continue
        for versions in options.versions or CHOICES:
            print(f"== {name}, {versions} versions", flush=True)
            lines.append(f"{name}, {versions} versions: {outcome(python, versions, tests)}")
    print("\n".join(lines))
    return int(any("FAILED" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
