"""`vyre certify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.files import read_bytes, read_document, write_bytes
from vyre.cli.progress import Bar
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.certify.annex import Annex, Baseline, Drop
    from vyre.conform.certify.certificate import Certificate
    from vyre.conform.certify.keys import SigningKey
    from vyre.conform.records.results import RunPlan
    from vyre.conform.suite.run import Progress, Run

_EPILOG = """Example: vyre certify cpu · vyre certify mine --ops 'primitive.math.*' --cases 100000000 ·
vyre certify --backend-class mypackage:Backend --case primitive.math.div/inputs/0x5,0x0"""


@click.command("certify", epilog=_EPILOG)
@click.argument("backend", required=False)
@click.option(
    "--backend-class", metavar="MODULE:CLASS", help="A backend that is not installed as an entry point."
)
@click.option(
    "--cases", type=click.IntRange(0), metavar="N", help="Random cases per op, law [5 * 2^20, floats 2^20]."
)
@click.option(
    "--ops", multiple=True, metavar="PATTERN", help="Only these ops: an id, a family, or a pattern."
)
@click.option(
    "--track", type=click.Choice(["integer", "float"]), help="Only what the first levels of a track need."
)
@click.option("--stage", "stages", multiple=True, metavar="NAME", help="Only these stages.")
@click.option("--shard", metavar="I/N", default="1/1", show_default=True, help="The I-th of N equal parts.")
@click.option(
    "--skip", type=click.IntRange(0), default=0, metavar="N", help="Leave out the first N cases of the run."
)
@click.option("--resume", is_flag=True, help="Go on with a run of the same options that was ended.")
@click.option("--seed", type=click.IntRange(0, (1 << 64) - 1), metavar="N", help="Of all random cases.")
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
@click.option("--shards", type=click.IntRange(1), default=8, show_default=True, help="For the engine.")
@click.option("--ray-address", metavar="ADDRESS", help="A running cluster [one made of this machine].")
@click.option("--quick", is_flag=True, help="A first look: few random cases, no triples.")
@click.option("--programs", type=click.IntRange(0), metavar="N", help="Generated programs.")
@click.option(
    "--repeats", type=click.IntRange(1), default=3, show_default=True, help="Runs per case of a stage."
)
@click.option("--case", "case", metavar="NAME", help="Run one case alone and show its bits and source.")
@click.option(
    "--timeout", type=float, default=60.0, show_default=True, help="Seconds to wait for the backend."
)
@click.option("--in-process", is_flag=True, help="Run the backend in this process: a crash ends the run.")
@click.option("--expected-failures", type=click.Path(), metavar="FILE", help="Lines `NAME: reason`.")
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
    help="An earlier performance.json of this device and driver: what is slower three times denies L4.",
)
@click.option("--results", type=click.Path(), metavar="FILE", help="Write the results here as well.")
@click.option("--junit", "junit_file", type=click.Path(), metavar="FILE", help="Write JUnit XML.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(backend: str | None, **options: Any) -> None:
    """Verify BACKEND (the default one if not named) and say exactly how much was shown.

    Exits with 1 on a failure that is not expected, or an expected one that passed.
    """
    target = _target(backend, options["backend_class"])
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
                f"{backend_class!r} is no MODULE:CLASS.", fix="write it like mypackage.gpu:Backend."
            )
        sys.path.insert(0, "")
        return backend_class
    if backend:
        return backend
    from vyre.backends import default_backend

    return default_backend()


def _opened(target: str, options: dict[str, Any]) -> Any:
    from vyre.conform.process.isolate import Isolated
    from vyre.conform.process.load import load

    return load(target) if options["in_process"] else Isolated(target, timeout=options["timeout"])


def _closed(backend: Backend) -> None:
    from vyre.backends.protocol import ClosingBackend

    if isinstance(backend, ClosingBackend):
        backend.close()


def _plan(name: str, options: dict[str, Any], store: Any) -> Any:
    from vyre.conform.suite.plan import (
        DEFAULT_CASES,
        DEFAULT_PROGRAMS,
        DEFAULT_SEED,
        LARGEST,
        QUICK_CASES,
        QUICK_LARGEST,
        QUICK_PROGRAMS,
        TRACK_STAGES,
        make_plan,
        ops_of,
    )

    quick: bool = options["quick"]
    ops, stages = tuple(options["ops"]), tuple(options["stages"])
    if options["track"]:
        ops = ops or ops_of(options["track"])
        stages = stages or TRACK_STAGES[options["track"]]
    cases, programs, seed = options["cases"], options["programs"], options["seed"]
    return make_plan(
        name,
        seed=DEFAULT_SEED if seed is None else seed,
        cases=(QUICK_CASES if quick else DEFAULT_CASES) if cases is None else cases,
        float_cases=cases,
        shard=_shard(options["shard"]),
        skip=options["skip"],
        ops=ops,
        stages=stages,
        programs=(QUICK_PROGRAMS if quick else DEFAULT_PROGRAMS) if programs is None else programs,
        exhaustive=options["exhaustive"] is not None,
        largest=QUICK_LARGEST if quick else LARGEST,
        repeats=options["repeats"],
        store=store,
    )


def _shard(text: str) -> tuple[int, int]:
    index, slash, count = text.partition("/")
    if not slash or not index.isdecimal() or not count.isdecimal():
        raise VyreError(f"{text!r} is no shard.", fix="write it like 1/4.")
    return int(index), int(count)


def _one_case(target: str, options: dict[str, Any]) -> None:
    import json
    from dataclasses import asdict

    from vyre.conform.suite.units import STAGES
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.named import run_named

    backend = _opened(target, options)
    try:
        plan = _plan(backend.name, {**options, "programs": 1 << 32, "ops": ()}, None)
        report = run_named(Bench(backend), options["case"], plan, STAGES)
    finally:
        _closed(backend)
    click.echo(json.dumps(asdict(report), indent=2) if options["as_json"] else report.render())
    if report.failed:
        raise SystemExit(1)


def _functions(target: str, options: dict[str, Any]) -> None:
    """All 2^32 inputs of float functions, against digests of the truth."""
    from vyre.cli.exhaustive_ import run_exhaustive

    backend = _opened(target, options)
    try:
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
    finally:
        _closed(backend)
    if code:
        raise SystemExit(code)


def _sharded(target: str, options: dict[str, Any]) -> None:
    """The run in shards on a cluster; the certificate is that of one run."""
    from vyre.cli.styled import echo_lines, width
    from vyre.conform.certify.adopters import read_expected
    from vyre.conform.certify.keys import SigningKey
    from vyre.conform.certify.merge import merge
    from vyre.conform.certify.shards import on_ray, split
    from vyre.conform.certify.statement import read
    from vyre.conform.certify.summary import summary
    from vyre.conform.suite.regressions import Store
    from vyre.conform.suite.run import require_exact

    if options["baseline"]:
        raise VyreError("--baseline needs a run on one machine.", fix="leave out --engine, or --baseline.")
    key = SigningKey.load(options["key"]) if options["key"] else None
    file = options["expected_failures"]
    expected = read_expected(read_bytes(file).decode("utf-8", "replace"), file=file) if file else []
    store = Store(Path(options["folder"]) if options["folder"] else Path(options["state"]) / "failures")
    backend = _opened(target, options)
    try:
        require_exact(backend.describe())
        plan = _plan(backend.name, options, store)
    finally:
        _closed(backend)
    jobs = split(
        plan,
        target,
        options["shards"],
        timeout=options["timeout"],
        in_process=options["in_process"],
        expected=expected,
    )
    parts = on_ray(
        jobs,
        address=options["ray_address"],
        done=lambda job: click.echo(f"shard {job.plan.shard[0]} of {job.plan.shard[1]} is done", err=True),
    )
    found = [read(data).certificate for data in parts]
    made = merge(found) if len(found) > 1 else found[0]
    folder = Path(options["state"]) / "runs" / f"{plan.backend}-{plan.digest[:16]}"
    places = _write_certificates([made], folder, options["certificate"], key)
    echo_lines(summary(made.results, [made], width=width()))
    _echo_settings(made)
    for path, digest in places:
        click.echo(f"certificate  {path}\n             sha256 {digest}")
    if not made.results.ok:
        raise SystemExit(1)


def _whole(target: str, options: dict[str, Any]) -> None:
    import json
    from dataclasses import asdict, replace

    from vyre.cli.styled import echo_lines, width
    from vyre.conform.certify.adopters import junit, read_expected
    from vyre.conform.certify.ahead import proofs_ahead
    from vyre.conform.certify.annex import write_annex
    from vyre.conform.certify.earned import earned
    from vyre.conform.certify.kernels import kernels_ahead
    from vyre.conform.certify.keys import SigningKey
    from vyre.conform.certify.summary import summary
    from vyre.conform.records.journal import Journal, write_durably
    from vyre.conform.suite.regressions import Store
    from vyre.conform.suite.run import Suite, require_exact
    from vyre.conform.suite.units import OPS

    key = SigningKey.load(options["key"]) if options["key"] else None
    file = options["expected_failures"]
    expected = read_expected(read_bytes(file).decode("utf-8", "replace"), file=file) if file else []
    state = Path(options["state"])
    store = Store(Path(options["folder"]) if options["folder"] else state / "failures")
    backend = _opened(target, options)
    try:
        require_exact(backend.describe())
        before = _given(options, backend)
        plan = _plan(backend.name, options, store)
        digest = replace(plan, regressions=()).digest[:16]
        folder = state / "runs" / f"{plan.backend}-{digest}"
        journal = Journal(folder / "journal.jsonl", {"plan": asdict(plan)}, resume=options["resume"])
        with Bar(unit="cases", quiet=options["as_json"]) as bar:
            suite = Suite(
                plan, backend, journal, store=store, target=target, expected=expected, progress=_told(bar)
            )
            with kernels_ahead(plan), proofs_ahead(plan.ops if OPS in plan.stages else ()):
                run = suite.run()
            baselines, slower = _baselines(backend, plan, options["baselines"], before)
    finally:
        _closed(backend)
    results, data = run.results, run.results.to_json()
    write_durably(folder / "results.json", data)
    write_durably(folder / "annex.json", json.dumps(run.annex, indent=2).encode() + b"\n")
    made = earned(run, baselines=[b.name for b in baselines], slower=slower)
    places = _write_certificates(made, folder, options["certificate"], key)
    # The certificate is written; from here on nothing that goes wrong with a report may hide it.
    dropped: list[Drop] = []

    def performance() -> None:
        dropped.extend(_kept(baselines, before, made[0], state / "baselines"))
        if baselines:
            annex = write_annex(baselines, made[0], drops=tuple(dropped), key=key)
            write_durably(folder / "performance.json", annex)

    troubles = [
        _tried(performance),
        _tried(lambda: options["results"] and write_bytes(options["results"], data)),
        _tried(lambda: options["junit_file"] and _write_junit(options["junit_file"], junit(results))),
    ]
    if options["as_json"]:
        click.echo(data.decode(), nl=False)
    else:
        shown = _tried(lambda: echo_lines(summary(results, made, width=width())))
        _echo_places(made[0], places, run, folder)
        for drop in dropped:
            click.echo(f"slower       {drop}")
        troubles.append(shown)
    _raise_first(troubles, places)
    if not results.ok:
        raise SystemExit(1)


def _tried(attempt: Callable[[], object]) -> Exception | None:
    """What went wrong, if anything. The caller says so once everything has been tried."""
    try:
        attempt()
    except Exception as error:  # a report may fail in any way: the run is worth more
        return error
    return None


def _raise_first(troubles: Sequence[Exception | None], places: Sequence[tuple[str, str]]) -> None:
    found = next((t for t in troubles if t is not None), None)
    if found is None:
        return
    known = found if isinstance(found, VyreError) else None
    what = known.message if known else f"a report cannot be made ({type(found).__name__}: {found})."
    raise VyreError(
        f"{what} The run is finished, and its certificate is {places[0][0]}.",
        fix=known.fix if known else f"report this; `vyre report {places[0][0]}` makes a page of it.",
    ) from found


def _write_junit(file: str, text: str) -> None:
    write_bytes(file, text.encode("utf-8", "backslashreplace"))


def _given(options: dict[str, Any], backend: Backend) -> Annex | None:
    """The baseline to compare with, read before the run so that a wrong file costs nothing."""
    from vyre.conform.certify.baselines import given

    file = options["baseline"]
    if file is None:
        return None
    if options["baselines"] is False:
        raise VyreError("--baseline and --no-baselines exclude each other.", fix="keep one of them.")
    return given(read_document(file), backend.describe(), file=file)


def _baselines(
    backend: Backend, plan: RunPlan, wanted: bool | None, before: Annex | None
) -> tuple[tuple[Baseline, ...], tuple[str, ...]]:
    """Measured where it was asked for, or where the run is for a full certificate; and what is slower.

    A backend that dies meanwhile has no baselines; the run that is behind it stays.
    """
    from vyre.conform.certify.annex import measure
    from vyre.conform.certify.baselines import confirmed
    from vyre.conform.suite.plan import chosen_ops
    from vyre.conform.suite.units import ALL_STAGES

    everything = plan.ops == chosen_ops(()) and plan.stages == ALL_STAGES
    if not (everything or before is not None if wanted is None else wanted):
        return (), ()
    try:
        found = measure(backend)
        return found, confirmed(before, found, lambda: measure(backend)) if before is not None else ()
    except VyreError as error:
        click.echo(f"no performance baseline: {error.message}", err=True)
        return (), ()


def _kept(
    found: tuple[Baseline, ...], before: Annex | None, certificate: Certificate, folder: Path
) -> tuple[Drop, ...]:
    """What is slower than the baseline that was given, or else than the one kept here; the best is kept."""
    from vyre.conform.certify.baselines import drops, keep, kept

    if not found:
        return ()
    earlier = before if before is not None else kept(folder, certificate.backend)
    keep(folder, found, certificate)
    return drops(earlier, found) if earlier is not None else ()


def _write_certificates(
    made: Sequence[Certificate], folder: Path, file: str | None, key: SigningKey | None
) -> list[tuple[str, str]]:
    """Writes each and gives its place and digest; an approximate one stands beside the strict one."""
    import hashlib

    from vyre.conform.certify.statement import statement, write

    places: list[tuple[str, str]] = []
    for certificate in made:
        path = Path(file) if file else folder / "certificate.json"
        if certificate.kind != "strict":
            path = path.with_name(f"{path.stem}-{certificate.kind}{path.suffix}")
        _write_somewhere(path, folder, write(certificate, key=key))
        places.append((str(path), hashlib.sha256(statement(certificate)).hexdigest()))
    return places


def _write_somewhere(path: Path, folder: Path, data: bytes) -> None:
    """Writes a certificate where it was asked for; where that cannot be written, where its journal is."""
    try:
        write_bytes(str(path), data)
    except VyreError as error:
        kept = folder / path.name
        if kept == path:
            raise
        write_bytes(str(kept), data)
        raise VyreError(
            f"{error.message} The run is finished, and its certificate is {kept}.", fix="copy it from there."
        ) from None


def _echo_places(made: Certificate, places: Sequence[tuple[str, str]], run: Run, folder: Path) -> None:
    click.echo()
    _echo_settings(made)
    for path, digest in places:
        click.echo(f"certificate  {path}")
        click.echo(f"             sha256 {digest}")
    if (folder / "performance.json").exists():
        click.echo(f"performance  {folder / 'performance.json'}")
    click.echo(f"verify it    vyre verify {places[0][0]} --rerun 1%")
    click.echo(f"results      {folder / 'results.json'} ({run.annex['seconds']} s)")


def _echo_settings(made: Certificate) -> None:
    """What was done otherwise than in a full run; nobody should have to look for it."""
    from textwrap import wrap

    from vyre.cli.styled import width

    for setting in made.settings:
        for k, line in enumerate(wrap(setting, width() - 13)):
            click.echo(f"{'' if k else 'setting':13}{line}")


def _told(bar: Bar) -> Callable[[Progress], None]:
    """What a suite calls as it goes."""

    def update(p: Progress) -> None:
        failing = f"{p.failing} failures" if p.failing else ""
        bar.update(p.done, total=p.total, what=p.what, resumed=p.resumed, failing=failing)

    return update
