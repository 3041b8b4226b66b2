"""The command group: which commands there are, and how an error reaches the terminal."""

from __future__ import annotations

import importlib
import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from vyre.errors import ValidationError, VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "validate": "Check a program or graph against the V-rules.",
    "print": "Print a program or graph in its text form, or convert between text and wire.",
    "run": "Run a program on a backend with arrays from files.",
    "check": "Run a program in the interpreter and report races and other findings.",
    "lower": "Print a program as LLVM IR, WGSL, CUDA C or OpenCL C.",
    "export": "Write a kernel with a manifest, for hosts without Python.",
    "diff": "Run a program on two backends and show the first value that differs.",
    "explain": "Explain a V-code: meaning, a program that triggers it, how to fix it.",
    "ops": "List the registered ops, or show one.",
    "backends": "List the backends and what each one needs.",
    "doctor": "Say what works here, what is missing, and what to type.",
    "probe": "Ask a device which float operations it does exactly.",
    "cache": "Show or clear the compiled kernels that are kept on disk.",
    "laws": "Show the laws of the ops and what proves each.",
    "certify": "Certify a backend and print what was shown.",
    "verify": "Check a certificate, and run a part of it again.",
    "report": "Make an HTML page of a certificate.",
    "merge": "Join the certificates of shards into one.",
    "new-backend": "Write a package with a working backend, for you to change.",
    "keygen": "Make a key that signs certificates.",
}


class _LazyGroup(click.Group):
    """Knows every command's name and summary, and imports its module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"vyre.cli.{cmd_name.replace('-', '_')}_")
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Runs a command and exits: 0, 1 for an error, 2 for a wrong command line, 130 for Ctrl-C."""
        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in words
        try:
            options: dict[str, Any] = {**extra, "prog_name": "vyre", "standalone_mode": False}
            code: Any = super().main(words, **options)
            click.echo(nl=False)  # flushes: a full disk shows here, not in the last moments of Python
        except VyreError as error:
            report(error, as_json=as_json)
            code = 1
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = error.exit_code
        except click.ClickException as error:
            report(_usage_error(error), as_json=as_json)
            code = error.exit_code
        except click.Abort:
            report(VyreError("interrupted.", fix="start the command again to repeat it."), as_json=as_json)
            code = 130
        except OSError as error:
            _close_stdout()
            why = VyreError(
                f"the output cannot be written: {error.strerror or error}.",
                fix="check where the output goes, and the free space there.",
            )
            report(why, as_json=False)
            code = 1
        raise SystemExit(code or 0) from None


def _usage_error(error: click.ClickException) -> VyreError:
    context = getattr(error, "ctx", None)
    command = context.command_path if isinstance(context, click.Context) else "vyre"
    message = error.format_message()
    return VyreError(
        message if message.endswith((".", "?")) else f"{message}.", fix=f"see `{command} --help`."
    )


def _close_stdout() -> None:
    """Sends the rest of the output nowhere, so that Python does not fail on it again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report(error: VyreError, *, as_json: bool) -> None:
    """Writes an error for a person to stderr, or for a program to stdout."""
    if not as_json:
        text = f"error: {error}".encode("utf-8", "backslashreplace").decode()
        click.echo(text, err=True)
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
    epilog="Exit status: 0 all is well, 1 an error or a finding, 2 a wrong command line, 3 (verify) a "
    "certificate of a run that is not complete, 130 Ctrl-C.\n\n"
    "Example: vyre run hamming.vyre --input a=a.npy --input b=b.npy --output out=out.npy",
)
@click.version_option(package_name="vyre", prog_name="vyre")
def main() -> None:
    """Write a GPU program once; every backend gives the same bytes."""
