"""A certificate in a program's hands: one file, what it says, and what can be done with it.

    certificate = Certificate.load("cpu.json")
    certificate.levels                          {"integer": "L2", "float": ""}
    certificate.verify().holds                  every check that needs no backend
    first.merge(second, third)                  the shards of a run into the certificate of the whole
    certificate.save("cpu.json")
    certificate.to_html()                       one page that needs nothing besides itself

Strict and approximate operations are never in one certificate. Where a run was about both, `vyre.certify`
gives the strict one, whose `approximate` is the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.conform.certify.finding import WRONG
from vyre.conform.certify.merge import merge
from vyre.conform.certify.statement import PAYLOAD_TYPE, Document, document_of, read, seal
from vyre.conform.certify.verify import verify_document
from vyre.errors import CertificateError, VyreError
from vyre.files import read_document, write_bytes
from vyre.report import render

if TYPE_CHECKING:
    from vyre.conform.certify import certificate as contents
    from vyre.conform.certify.annex import Drop
    from vyre.conform.certify.keys import SigningKey
    from vyre.conform.certify.verify import Verification
    from vyre.conform.records.results import BackendFacts, Failure, Results
    from vyre.conform.suite.run import Timing


@dataclass(frozen=True, slots=True)
class RunNotes:
    """What a run leaves besides its certificate. None of it is certified."""

    results: Results
    """Of the whole run, strict and approximate operations together."""
    timing: Timing
    folder: Path | None = None
    """Where its journal and results are; None where nothing was kept."""
    performance: bytes | None = None
    """The performance annex, signed as the certificate is; None where nothing was measured."""
    drops: tuple[Drop, ...] = ()
    """What is slower than the baseline that was given, or else than the best that `state` has of it."""
    unmeasured: str = ""
    """Why a backend that was to be measured was not."""
    trouble: Exception | None = None
    """What went wrong when the performance figures were kept; the run is worth more than they are."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What one backend, on one device with one driver, has been shown to do.

    Two are equal where their files are.
    """

    data: bytes = field(repr=False)
    """The bytes of the file: canonical JSON, in an envelope where it is signed."""
    document: Document = field(compare=False, repr=False)
    approximate: Certificate | None = None
    """Of the same run, what it showed of approximate operations; None where it was not about any."""
    source: str = field(default="", compare=False)
    """The file it was read from."""
    run: RunNotes | None = field(default=None, compare=False, repr=False)
    """What the run left besides; None for one that was read or merged."""

    @classmethod
    def of(cls, made: contents.CertificateContents, *, key: SigningKey | None = None) -> Certificate:
        """The file of these contents, signed where there is a key."""
        found = cls((document := document_of(made)).statement, document)
        return found if key is None else found.signed(key)

    @classmethod
    def parse(cls, data: bytes, *, source: str = "") -> Certificate:
        """The certificate in these bytes. Raises `CertificateError`, which names what was changed."""
        try:
            return cls(data, read(data), source=source)
        except CertificateError as error:
            place = f"{error.place}: " if error.place else ""
            raise CertificateError(place + error.message, place=source, fix=error.fix) from None

    @classmethod
    def load(cls, file: str | Path) -> Certificate:
        """The certificate in a file; that of approximate operations is a file of its own."""
        return cls.parse(read_document(str(file)), source=str(file))

    @property
    def kind(self) -> str:
        """`strict` or `approximate`."""
        return self.document.certificate.kind

    @property
    def levels(self) -> dict[str, str]:
        """The highest level granted on each track, such as `L2`; empty where none was."""
        return {track.track: track.highest for track in self.document.certificate.tracks}

    @property
    def backend(self) -> BackendFacts:
        """The device, driver and toolchain that it is about."""
        return self.document.certificate.backend

    @property
    def results(self) -> Results:
        return self.document.certificate.results

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Everything that failed, in the plan and beyond it."""
        return self.results.every_failure

    @property
    def ok(self) -> bool:
        """Whether nothing failed but what was expected to, and that did; in `approximate` as well."""
        return self.results.ok and (self.approximate is None or self.approximate.ok)

    @property
    def settings(self) -> tuple[str, ...]:
        """What was done otherwise than in a full run, as sentences."""
        return self.document.certificate.settings

    @property
    def digest(self) -> str:
        """The sha256 of the contents, signed or not."""
        return self.document.digest

    @property
    def signers(self) -> tuple[str, ...]:
        return self.document.signers

    def verify(self, *, trusted: str | None = None) -> Verification:
        """Every check that needs no backend; `trusted` is the id of the key that must have signed."""
        return verify_document(self.document, trusted=trusted)

    def merge(
        self, *others: Certificate, key: SigningKey | None = None, trusted: str | None = None
    ) -> Certificate:
        """The certificate of the whole run of which these are all the shards, byte for byte.

        `key` signs it; `trusted` must have signed every shard. Raises `CertificateError` for shards that were
        changed, do not belong together, are missing or overlap.
        """
        shards = (self, *others)
        for shard in shards:
            shard._believed(trusted)
        whole = Certificate.of(merge([s.document.certificate for s in shards]), key=key)
        beside = [s.approximate for s in shards if s.approximate is not None]
        if len(beside) < len(shards):
            return whole
        return replace(whole, approximate=beside[0].merge(*beside[1:], key=key, trusted=trusted))

    def _believed(self, trusted: str | None) -> None:
        wrong = next((f for f in self.verify(trusted=trusted).findings if f.status == WRONG), None)
        if wrong is not None:
            raise CertificateError(wrong.text, place=self.source, fix=wrong.fix)

    def signed(self, key: SigningKey) -> Certificate:
        """The same contents, signed with this key alone."""
        data = seal(self.document.statement, PAYLOAD_TYPE, key)
        document = replace(self.document, signers=(key.keyid,))
        beside = None if self.approximate is None else self.approximate.signed(key)
        return replace(self, data=data, document=document, approximate=beside)

    def save(self, file: str | Path) -> tuple[Path, ...]:
        """Writes the file, and the approximate one of the same run beside it as `…-approximate.json`.

        Gives the places. A run's certificate that cannot be written there is kept where its journal is.
        """
        path = Path(file)
        self._write(path)
        if self.approximate is None:
            return (path,)
        beside = path.with_name(f"{path.stem}-{self.approximate.kind}{path.suffix}")
        replace(self.approximate, run=self.run)._write(beside)
        return path, beside

    def _write(self, path: Path) -> None:
        try:
            write_bytes(str(path), self.data)
        except VyreError as error:
            kept = path if self.run is None or self.run.folder is None else self.run.folder / path.name
            if kept == path:
                raise
            write_bytes(str(kept), self.data)
            raise VyreError(
                f"{error.message} The run is finished, and its certificate is {kept}.",
                fix="copy it from there.",
            ) from None

    def to_html(self) -> str:
        """One page for people, self-contained."""
        return render(self.document)
