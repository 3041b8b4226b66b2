"""The command group: which commands there are, and how an error reaches the terminal."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from vyre.errors import ValidationError, VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "validate": "Check a program against the V-rules.",
    "print": "Print a program in its text form, or convert between text and wire.",
    "run": "Run a program on a backend with arrays from files.",
    "lower": "Print a program as LLVM IR, WGSL, CUDA C or OpenCL C.",
    "export": "Write a kernel with a manifest, for hosts without Python.",
    "diff": "Run a program on two backends and show the first value that differs.",
    "explain": "Explain a V-code: meaning, a program that triggers it, how to fix it.",
    "ops": "List the registered ops, or show one.",
    "backends": "List the backends and what each one needs.",
    "certify": "Certify a backend and print what was shown.",
}


class _LazyGroup(click.Group):
    """Knows every command's name and summary, and imports its module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"vyre.cli.{cmd_name}_")
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        try:
            return super().main(words, *rest, **extra)
        except VyreError as error:
            report(error, as_json="--json" in words)
            raise SystemExit(1) from None


def report(error: VyreError, *, as_json: bool) -> None:
    """Writes an error for a person to stderr, or for a program to stdout."""
    if not as_json:
        click.echo(f"error: {error}", err=True)
        return
    record: dict[str, Any] = {
        "error": type(error).__name__,
        "message": error.message,
        "place": error.place,
        "fix": error.fix,
    }
    if isinstance(error, ValidationError):
        record["diagnostics"] = [diagnostic_record(d) for d in error.diagnostics]
    click.echo(json.dumps(record, indent=2))


def diagnostic_record(diagnostic: Any) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "path": diagnostic.path,
        "message": diagnostic.message,
        "fix": diagnostic.fix,
        "location": str(diagnostic.location) if diagnostic.location else None,
    }


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: vyre run hamming.vyre --input a=a.npy --input b=b.npy --output out=out.npy",
)
@click.version_option(package_name="vyre", prog_name="vyre")
def main() -> None:
    """Write a GPU program once; every backend gives the same bytes."""
