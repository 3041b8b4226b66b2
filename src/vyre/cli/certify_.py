"""`vyre certify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.progress import Bar
from vyre.errors import VyreError, counted
from vyre.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.certification import Certificate, CertifyPlan, CertifyProgress
    from vyre.conform.certify.keys import SigningKey

_EPILOG = """Example: vyre certify cpu · vyre certify mine --ops 'primitive.math.*' --cases 100000000 ·
vyre certify --backend-class mypackage:Backend --case primitive.math.div/inputs/0x5,0x0"""


@click.command("certify", epilog=_EPILOG)
@click.argument("backend", required=False)
@click.option(
    "--backend-class", metavar="MODULE:CLASS", help="A backend that is not installed as an entry point."
)
@click.option(
    "--cases",
    type=click.IntRange(0),
    metavar="N",
    help="Random cases for each op and law [5 * 2^20; floats 2^20].",
)
@click.option(
    "--ops",
    multiple=True,
    metavar="PATTERN",
    help="Only these ops: an id, a family, or a pattern; may be repeated.",
)
@click.option(
    "--track", type=click.Choice(["integer", "float"]), help="Only what the first levels of a track need."
)
@click.option("--stage", "stages", multiple=True, metavar="NAME", help="Only this stage; may be repeated.")
@click.option("--shard", metavar="I/N", default="1/1", show_default=True, help="The I-th of N equal parts.")
@click.option(
    "--skip", type=click.IntRange(0), default=0, metavar="N", help="Leave out the first N cases of the run."
)
@click.option("--resume", is_flag=True, help="Continue an interrupted run with the same options.")
@click.option(
    "--seed", type=click.IntRange(0, (1 << 64) - 1), metavar="N", help="The seed of all random cases."
)
@click.option(
    "--exhaustive",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[NAME]",
    help="All 2^32 inputs: of every op of one word, or of the float functions NAME (exp,log or all).",
)
@click.option("--range", "range_text", metavar="LO:HI", help="With --exhaustive NAME: only these inputs.")
@click.option(
    "--engine", type=click.Choice(["ray"]), help="Run the shards on a cluster and merge their certificates."
)
@click.option(
    "--shards",
    type=click.IntRange(1),
    metavar="N",
    default=8,
    show_default=True,
    help="With --engine: how many shards.",
)
@click.option("--ray-address", metavar="ADDRESS", help="A running cluster [one made of this machine].")
@click.option("--quick", is_flag=True, help="A first look: few random cases, no triples.")
@click.option("--programs", type=click.IntRange(0), metavar="N", help="How many generated programs to run.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    metavar="N",
    default=3,
    show_default=True,
    help="Runs per case of a stage.",
)
@click.option(
    "--soak",
    type=float,
    default=0.0,
    metavar="MINUTES",
    help="After the run, go on for this long with other seeds.",
)
@click.option("--case", "case", metavar="NAME", help="Run one case alone and show its bits and source.")
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    default=60.0,
    show_default=True,
    help="How long to wait for the backend.",
)
@click.option("--in-process", is_flag=True, help="Run the backend in this process: a crash ends the run.")
@click.option(
    "--processes",
    type=click.IntRange(1),
    metavar="N",
    help="How many processes share the work [cores for cpu, else 1].",
)
@click.option(
    "--expected-failures",
    type=click.Path(),
    metavar="FILE",
    help="Failures to expect, each a line `NAME: reason`.",
)
@click.option(
    "--state", type=click.Path(), default=".vyre", show_default=True, help="Where journals are kept."
)
@click.option(
    "--failures", "folder", type=click.Path(), metavar="DIR", help="The store of failures [STATE/failures]."
)
@click.option(
    "--certificate", type=click.Path(), metavar="FILE", help="Where the certificate goes [below STATE/runs]."
)
@click.option("--key", type=click.Path(), metavar="FILE", help="Sign it with this key (`vyre keygen`).")
@click.option(
    "--baselines/--no-baselines", default=None, help="Measure speed for the annex [if nothing is left out]."
)
@click.option(
    "--baseline",
    type=click.Path(),
    metavar="FILE",
    help="An earlier performance.json of this device and driver; a kernel slower in three runs denies L4.",
)
@click.option(
    "--needs",
    multiple=True,
    metavar="LEVEL",
    help="Exit with 1 if this level, such as L4 or L4f, is not granted; may be repeated.",
)
@click.option("--results", type=click.Path(), metavar="FILE", help="Write the results here as well.")
@click.option("--junit", "junit_file", type=click.Path(), metavar="FILE", help="Write a JUnit XML report.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(backend: str | None, **options: Any) -> None:
    """Certify BACKEND (the default one if it is not named) and say exactly how much was shown.

    Exits with 1 on a failure that is not expected, or an expected one that passed.
    """
    target = _target(backend, options["backend_class"])
    _check_needs(options)
    if options["exhaustive"]:
        _functions(target, options)
    elif options["case"]:
        _one_case(target, options)
    elif options["engine"]:
        _sharded(target, options)
    else:
        _whole(target, options)


def _target(backend: str | None, backend_class: str | None) -> str:
    if backend and backend_class:
        raise VyreError("a backend and a class are both named.", fix="name one of them.")
    if backend_class:
        if ":" not in backend_class:
            raise VyreError(
                f"Invalid class {backend_class!r}: expected MODULE:CLASS.",
                fix="write it like mypackage.gpu:Backend.",
            )
        sys.path.insert(0, "")
        return backend_class
    if backend:
        return backend
    from vyre.backends import default_backend

    return default_backend()


def _plan(options: dict[str, Any]) -> CertifyPlan:
    from vyre.certification import CertifyPlan
    from vyre.conform.certify.adopters import read_expected

    if options["baseline"] is not None and options["baselines"] is False:
        raise VyreError("--baseline and --no-baselines exclude each other.", fix="keep one of them.")
    file = options["expected_failures"]
    expected = read_expected(read_bytes(file).decode("utf-8", "replace"), file=file) if file else []
    same = ("ops", "track", "stages", "cases", "programs", "repeats", "seed", "quick", "skip")
    more = ("timeout", "state", "resume", "baselines", "baseline", "soak", "processes")
    return CertifyPlan(
        **{name: options[name] for name in (*same, *more)},
        exhaustive=options["exhaustive"] is not None,
        shard=_shard(options["shard"]),
        expected=expected,
        isolate=not options["in_process"],
        failures=options["folder"],
    )


def _check_needs(options: dict[str, Any]) -> None:
    from vyre.conform.spec.levels import TITLES

    for level in options["needs"]:
        if level not in TITLES:
            raise VyreError(f"Unknown level {level!r} in --needs.", fix=f"choose one of {', '.join(TITLES)}.")
    alone = options["exhaustive"] or options["case"]
    if options["needs"] and alone:
        raise VyreError(
            "--needs is about the levels of a run; one case and the inputs of functions earn none.",
            fix="leave out --needs, or --case and --exhaustive NAME.",
        )


def _end(made: Certificate, needs: Sequence[str]) -> None:
    """Exits with 1 where something failed, or a level that is needed was denied."""
    from vyre.conform.spec.levels import LEVELS

    granted = made.levels | (made.approximate.levels if made.approximate else {})
    denied = [
        level
        for track, names in LEVELS.items()
        for place, level in enumerate(names)
        if level in needs and granted.get(track, "") not in names[place:]
    ]
    if denied:
        click.echo(f"not granted, and needed: {', '.join(denied)}", err=True)
    if denied or not made.ok:
        raise SystemExit(1)


def _shard(text: str) -> tuple[int, int]:
    index, slash, count = text.partition("/")
    if not slash or not index.isdecimal() or not count.isdecimal():
        raise VyreError(f"Invalid --shard {text!r}: expected I/N.", fix="write it like 1/4.")
    return int(index), int(count)


def _key(options: dict[str, Any]) -> SigningKey | None:
    from vyre.conform.certify.keys import SigningKey

    return SigningKey.load(options["key"]) if options["key"] else None


def _one_case(target: str, options: dict[str, Any]) -> None:
    import json
    from dataclasses import asdict

    from vyre.certification.named import run_case

    report = run_case(target, options["case"], _plan(options))
    click.echo(json.dumps(asdict(report), indent=2) if options["as_json"] else report.render())
    if report.failed:
        raise SystemExit(1)


def _functions(target: str, options: dict[str, Any]) -> None:
    """All 2^32 inputs of float functions, against digests of the truth."""
    from vyre.certification.single import opened
    from vyre.cli.exhaustive_ import run_exhaustive

    with opened(target, _plan(options)) as (backend, _):
        code = run_exhaustive(
            backend,
            options["exhaustive"].split(","),
            target=target,
            state=options["state"],
            resume=options["resume"],
            range_text=options["range_text"],
            results=options["results"],
            as_json=options["as_json"],
        )
    if code:
        raise SystemExit(code)


def _sharded(target: str, options: dict[str, Any]) -> None:
    """The run in shards on a cluster; the certificate is that of one run."""
    from vyre.certification import RayCluster, certify
    from vyre.cli.certified import echo_settings, echo_summary

    cluster = RayCluster(options["shards"], options["ray_address"])
    made = certify(
        target,
        _plan(options),
        cluster=cluster,
        key=_key(options),
        progress=lambda p: click.echo(f"{p.what} is done", err=True),
    )
    plan = made.results.plan
    folder = Path(options["state"]) / "runs" / f"{plan.backend}-{plan.digest[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    (path,) = made.save(options["certificate"] or folder / "certificate.json")
    echo_summary(made)
    echo_settings(made)
    click.echo(f"certificate  {path}\n             sha256 {made.digest}")
    _end(made, options["needs"])


def _whole(target: str, options: dict[str, Any]) -> None:
    from vyre.certification import certify
    from vyre.cli.certified import show

    plan, key = _plan(options), _key(options)
    with Bar(unit="cases", quiet=options["as_json"]) as bar:
        made = certify(
            target,
            plan,
            key=key,
            progress=lambda p: _tell(bar, p),
        )
    assert made.run is not None
    if made.run.unmeasured:
        click.echo(f"no performance baseline: {made.run.unmeasured}", err=True)
    assert made.run.folder is not None
    places = made.save(options["certificate"] or made.run.folder / "certificate.json")
    # The certificate is written; from here on nothing that goes wrong with a report may hide it.
    show(
        made,
        places,
        results=options["results"],
        junit_file=options["junit_file"],
        as_json=options["as_json"],
    )
    _end(made, options["needs"])


def _tell(bar: Bar, progress: CertifyProgress) -> None:
    """The stage that a run is at and what is left of it; the whole run, where its time can be told."""
    failing = counted(progress.failing, "failure") if progress.failing else ""
    stage = progress.stage
    if stage is None:
        bar.update(progress.done, total=progress.total, what=progress.what, failing=failing)
        return
    whole = stage.whole_left if stage.of > 1 else None
    times = ((stage.left, "left in this stage"), (whole, "left in all"))
    what = f"{stage.name} (stage {stage.number} of {stage.of})"
    bar.update(
        stage.done,
        total=stage.total,
        what=what,
        failing=failing,
        left=tuple((seconds, words) for seconds, words in times if seconds is not None),
    )
