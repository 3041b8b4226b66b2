"""`vyre verify`."""

from __future__ import annotations

import json
import secrets
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from vyre.errors import VyreError, counted
from vyre.files import read_document

if TYPE_CHECKING:
    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.certify.finding import Finding
    from vyre.conform.certify.rerun import Rerun
    from vyre.conform.certify.verify import Verification

_EPILOG = "Example: vyre verify certificate.json --public-key vyre.key.pub --rerun 1%"


@click.command("verify", epilog=_EPILOG)
@click.argument("certificate", type=click.Path())
@click.option("--public-key", type=click.Path(), metavar="FILE", help="The key that must have signed it.")
@click.option("--annex", type=click.Path(), metavar="FILE", help="Check the performance annex as well.")
@click.option(
    "--baseline", type=click.Path(), metavar="FILE", help="With --annex: an earlier annex to compare with."
)
@click.option(
    "--rerun",
    "share",
    metavar="P%",
    help="Run a random part of it again, here, and as much with a fresh seed.",
)
@click.option(
    "--rerun-seed", type=int, metavar="N", help="Choose the part and the fresh seed of an earlier run."
)
@click.option("--backend", metavar="NAME", help="Where to run it again [the one it is about].")
@click.option(
    "--timeout", type=float, default=60.0, show_default=True, help="Seconds to wait for the backend."
)
@click.option("--in-process", is_flag=True, help="Run the backend in this process.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(certificate: str, **options: Any) -> None:
    """Check CERTIFICATE: that nobody changed it, and that its contents support what it claims.

    Needs no network and, without --rerun, no backend. Exits with 1 if anything is wrong, and with 3 if
    nothing is wrong but the run was not complete or its cases cannot be recounted.
    """
    from vyre.conform.certify.keys import load_public
    from vyre.conform.certify.verify import verify

    if options["baseline"] and not options["annex"]:
        raise VyreError(
            "--baseline has nothing to be compared with.", fix="name the newer figures with --annex as well."
        )
    trusted = load_public(options["public_key"]) if options["public_key"] else None
    share = _share(options["share"]) if options["share"] else 0.0
    report = verify(read_document(certificate), trusted=trusted)
    if options["annex"] and report.document is not None:
        from vyre.conform.certify.annex import check_annex

        report = report.also(check_annex(read_document(options["annex"]), report.document, trusted=trusted))
        if options["baseline"]:
            report = report.also(_compared(options["annex"], options["baseline"]))
    again: Rerun | None = None
    if share and report.document is not None and report.ok:
        again = _rerun(report.document.certificate, share, options)
        report = report.also(_device(again, report.document.certificate)).also(_finding(again))
    if options["as_json"]:
        click.echo(json.dumps(_record(report, again), indent=2))
    else:
        _show(report)
    if not report.holds:
        raise SystemExit(3 if report.ok else 1)


def _compared(file: str, earlier: str) -> Finding:
    """What the annex shows beside an earlier one; slower is not wrong."""
    from vyre.conform.certify.annex import read_annex
    from vyre.conform.certify.baselines import drops
    from vyre.conform.certify.finding import GOOD, OPEN, WRONG, Finding
    from vyre.errors import CertificateError

    try:
        now, before = (read_annex(read_document(f))[0] for f in (file, earlier))
    except CertificateError as error:
        return Finding("baseline", WRONG, error.message, error.fix)
    if (now.device, now.driver) != (before.device, before.driver):
        return Finding("baseline", OPEN, "it is of another device or driver, and was not compared")
    found = drops(before, now.baselines)
    if not found:
        return Finding("baseline", GOOD, "nothing is slower than it was")
    return Finding("baseline", OPEN, f"slower than it was: {'; '.join(map(str, found))}")


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise VyreError(f"Invalid --rerun {text!r}: expected a percentage.", fix="write it like 1% or 100%.")
    return value


def _rerun(certificate: CertificateContents, share: float, options: dict[str, Any]) -> Rerun:
    from vyre.backends.protocol import ClosingBackend
    from vyre.conform.certify.rerun import rerun
    from vyre.conform.process.isolate import Isolated
    from vyre.conform.process.load import load

    target = options["backend"] or certificate.backend.target
    if ":" in target:
        sys.path.insert(0, "")
    seed = secrets.randbits(32) if options["rerun_seed"] is None else options["rerun_seed"]
    backend = load(target) if options["in_process"] else Isolated(target, timeout=options["timeout"])
    try:
        return rerun(certificate, backend, share=share, seed=seed)
    finally:
        if isinstance(backend, ClosingBackend):
            backend.close()


def _device(again: Rerun, certificate: CertificateContents) -> Finding:
    """Whether the part was run again on the device that was certified; another is allowed, and said."""
    from vyre.conform.certify.finding import GOOD, OPEN, Finding

    if not again.device:
        return Finding(
            "device", GOOD, f"run again on the same device and driver: {certificate.backend.device}"
        )
    return Finding(
        "device", OPEN, "run again on ANOTHER device, driver or toolchain, so this says nothing about the "
        f"certified one: {'; '.join(again.device)}",
    )  # fmt: skip


def _finding(again: Rerun) -> Finding:
    from vyre.conform.certify.finding import GOOD, WRONG, Finding

    run = f"{again.blocks} of {counted(again.of, 'block')}, {counted(again.cases, 'case')} run"
    part = f"{run}, seed {again.seed}"
    part += f", {again.refused:,} refused here" if again.refused else ""
    part += f"; {counted(again.fresh_blocks, 'block')}, {counted(again.fresh_cases, 'case')} "
    part += f"with the fresh seed {again.fresh_seed}"
    if not again.mismatches:
        return Finding("rerun", GOOD, f"{part}: as the certificate says")
    first, *rest = again.mismatches
    more = f" (and {len(rest)} more)" if rest else ""
    return Finding(
        "rerun", WRONG, f"{part}: {first}{more}.",
        f"repeat it with --rerun-seed {again.seed}; then ask who certified it, and on what.",
    )  # fmt: skip


def _record(report: Verification, again: Rerun | None) -> dict[str, Any]:
    document = report.document
    found: dict[str, Any] = {
        "ok": report.ok,
        "holds": report.holds,
        "findings": [asdict(f) for f in report.findings],
    }
    if document is not None:
        found["schema"] = document.certificate.schema
        found["digest"] = document.digest
        found["signers"] = list(document.signers)
        found["backend"] = asdict(document.certificate.backend)
        found["tracks"] = [asdict(t) for t in document.certificate.tracks]
    if again is not None:
        found["rerun"] = asdict(again)
    return found


def _show(report: Verification) -> None:
    from vyre.cli.styled import echo_lines, width
    from vyre.conform.certify.summary import finding_lines, heading, track_lines

    columns = width()
    if report.document is not None:
        certificate = report.document.certificate
        echo_lines([*heading(certificate.backend, width=columns), []])
        for track in certificate.tracks:
            echo_lines(track_lines(track, width=columns))
        click.echo()
    for finding in report.findings:
        echo_lines(finding_lines(finding, width=columns))
    echo_lines([[], [_verdict(report)]])


def _verdict(report: Verification) -> tuple[str, str]:
    if not report.ok:
        return "✗ REFUSED.", "bad"
    if not report.holds:
        return "– NOT VERIFIED: nothing is wrong, but the plan is open.", "open"
    if report.document is not None and report.document.certificate.first_schema:
        return "✓ The certificate holds, as one of schema 1.", "good"
    return "✓ The certificate holds.", "good"
