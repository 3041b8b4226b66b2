"""What `vyre certify` shows and writes of a finished run; no report that fails hides the certificate."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import click

from vyre.cli.styled import echo_lines, width
from vyre.conform.certify import adopters, summary
from vyre.errors import VyreError
from vyre.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from vyre.certification import Certificate


def show(
    made: Certificate,
    places: Sequence[Path],
    *,
    results: str | None,
    junit_file: str | None,
    as_json: bool,
) -> None:
    """Writes what was asked for and prints the summary, or the results as JSON.

    `places` are the files of the certificate. What went wrong is raised once everything has been tried.
    """
    assert made.run is not None
    found, data = made.run.results, made.run.results.to_json()
    troubles = [
        made.run.trouble,
        _tried(lambda: results and write_bytes(results, data)),
        _tried(lambda: junit_file and _write_junit(junit_file, adopters.junit(found))),
    ]
    if as_json:
        click.echo(data.decode(), nl=False)
    else:
        shown = _tried(lambda: echo_summary(made))
        _echo_places(made, places)
        for drop in made.run.drops:
            click.echo(f"slower       {drop}")
        troubles.append(shown)
    _raise_first(troubles, places[0])


def echo_summary(made: Certificate) -> None:
    results = made.results if made.run is None else made.run.results
    files = [made] if made.approximate is None else [made, made.approximate]
    echo_lines(summary.summary(results, [one.document.certificate for one in files], width=width()))


def echo_settings(made: Certificate) -> None:
    """What was done otherwise than in a full run; nobody should have to look for it."""
    for setting in made.settings:
        for k, line in enumerate(wrap(setting, width() - 13)):
            click.echo(f"{'' if k else 'setting':13}{line}")


def _tried(attempt: Callable[[], object]) -> Exception | None:
    """What went wrong, if anything. The caller says so once everything has been tried."""
    try:
        attempt()
    except Exception as error:  # a report may fail in any way: the run is worth more
        return error
    return None


def _raise_first(troubles: Sequence[Exception | None], place: Path) -> None:
    found = next((t for t in troubles if t is not None), None)
    if found is None:
        return
    known = found if isinstance(found, VyreError) else None
    what = known.message if known else f"a report cannot be made ({type(found).__name__}: {found})."
    raise VyreError(
        f"{what} The run is finished, and its certificate is {place}.",
        fix=known.fix if known else f"report this; `vyre report {place}` makes a page of it.",
    ) from found


def _write_junit(file: str, text: str) -> None:
    write_bytes(file, text.encode("utf-8", "backslashreplace"))


def _echo_places(made: Certificate, places: Sequence[Path]) -> None:
    assert made.run is not None
    folder = made.run.folder
    assert folder is not None
    click.echo()
    echo_settings(made)
    files = [made] if made.approximate is None else [made, made.approximate]
    for path, one in zip(places, files, strict=True):
        click.echo(f"certificate  {path}")
        click.echo(f"             sha256 {one.digest}")
    if (folder / "performance.json").exists():
        click.echo(f"performance  {folder / 'performance.json'}")
    click.echo(f"verify it    vyre verify {places[0]} --rerun 1%")
    click.echo(f"results      {folder / 'results.json'} ({made.run.timing.seconds} s)")
    spent = seconds_by_stage(made.run.timing.groups, made.run.results.plan.ops)
    for k, line in enumerate(wrap(", ".join(spent), width() - 13)):
        click.echo(f"{'' if k else 'seconds':13}{line}")


def seconds_by_stage(groups: Mapping[str, float], ops: Collection[str]) -> list[str]:
    """The seconds of each stage, the longest first and all ops as one; processes that run at once are added
    up. What took less than a second has no part in it."""
    found: dict[str, float] = {}
    for group, seconds in groups.items():
        stage = "ops" if group in ops else group
        found[stage] = found.get(stage, 0.0) + seconds
    longest = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return [f"{stage} {seconds:.0f}" for stage, seconds in longest if seconds >= 1]
