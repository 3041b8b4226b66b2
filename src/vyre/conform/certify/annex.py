"""The performance annex: how fast a backend was, in a file of its own, signed on its own.

    found = measure(backend)                          seconds of a few kernels, and of the backend's own copy
    data = write_annex(found, certificate, key=key)
    check_annex(data, document)                       a finding: it belongs to the certificate, or does not

A certificate says which baselines were measured and holds no figure, so that it can be made again byte for
byte. The annex is about the same subject as the certificate: the backend on its device with its driver. Each
figure is relative to a kernel that only copies, on the same backend in the same minute.

A backend with memory of its own is timed on buffers that stay there, a chain of dispatches at a time; any
other on the host's memory, which it may have to copy. Each baseline says which.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from vyre.conform.certify import statement
from vyre.conform.certify.finding import GOOD, OPEN, WRONG, Finding
from vyre.conform.process.held import held
from vyre.conform.records.documents import Among, Field, FieldError, Rule, Within, canonical, decode, encode
from vyre.errors import CertificateError, VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Expr, InvocationId, LitU32, Load, UnOp
from vyre.ir.node import Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.backends.protocol import Backend, Executable
    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.certify.keys import SigningKey
    from vyre.conform.certify.statement import Document
    from vyre.conform.process.residence import Residence, ResidentMemory

SCHEMA = "vyre.performance/3"
_WITHOUT_MEMORY, _WITHOUT_DEVICE = "vyre.performance/1", "vyre.performance/2"
PREDICATE_TYPE = "https://vyre.dev/performance/v1"
COPY = "copy"
ON_HOST, ON_DEVICE = "host", "device"
_LARGEST = {ON_HOST: 1 << 22, ON_DEVICE: 1 << 25}
_CHAIN = 16
"""Dispatches that are queued before the device is waited for, fewer where one takes long."""

_ENOUGH = 0.01
_TURNS = 7
_GROUP = 64


_SHARE = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}")
Share = Annotated[str, Rule("a share such as '0.930'", lambda text: bool(_SHARE.fullmatch(text)))]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A kernel over `elements` u32: its best run, and its bytes a second as a share of the copy's.

    `memory` says where the elements were: `host`, copies included where the backend makes any, or `device`.
    """

    name: str
    elements: Annotated[int, Within(1, 1 << 40)]
    microseconds: int
    of_copy: Share
    memory: Annotated[str, Among(ON_HOST, ON_DEVICE)]


@dataclass(frozen=True, slots=True)
class Drop:
    """A kernel that is slower than it was, each time as a share of the copy's speed."""

    name: str
    before: Share
    now: Share

    def __str__(self) -> str:
        return f"{self.name} at {self.now} of a copy, was {self.before}"


@dataclass(frozen=True, slots=True)
class Annex:
    """What was measured, on which device with which driver, and what is slower there than before."""

    baselines: tuple[Baseline, ...]
    device: str
    driver: str
    drops: tuple[Drop, ...]
    schema: str = SCHEMA


def _mixed(a: Expr, b: Expr) -> Expr:
    """A hash of twelve operations: arithmetic enough that a slow multiplier shows."""
    value: Expr = a
    for shift, factor in ((16, 0x7FEB_352D), (15, 0x846C_A68B), (16, 0x9E37_79B1)):
        value = BinOp(BinaryOp.BitXor, value, BinOp(BinaryOp.Shr, value, LitU32(shift)))
        value = BinOp(BinaryOp.Mul, value, LitU32(factor))
    return BinOp(BinaryOp.BitXor, value, b)


_KERNELS: Mapping[str, Callable[[Expr, Expr], Expr]] = {
    COPY: lambda a, b: a,
    "add": lambda a, b: BinOp(BinaryOp.Add, a, b),
    "multiply": lambda a, b: BinOp(BinaryOp.Mul, a, b),
    "divide": lambda a, b: BinOp(BinaryOp.Div, a, b),
    "popcount-xor": lambda a, b: UnOp(UnaryOp.Popcount, BinOp(BinaryOp.BitXor, a, b)),
    "mix": _mixed,
}
BASELINES = tuple(_KERNELS)
_INPUTS = ("a", "b")
_BUFFERS = (*_INPUTS, "out")


def _program(build: Callable[[Expr, Expr], Expr]) -> Program:
    i, u32 = InvocationId(0), DataType.U32
    buffers = [
        BufferDecl.read("a", 0, u32),
        BufferDecl.read("b", 1, u32),
        BufferDecl.read_write("out", 2, u32),
    ]
    return Program(buffers, (_GROUP, 1, 1), [Store("out", i, build(Load("a", i), Load("b", i)))])


def measure(backend: Backend) -> tuple[Baseline, ...]:
    """Times every kernel that the backend runs; those it refuses are left out."""
    executables: dict[str, Executable] = {}
    for name, build in _KERNELS.items():
        try:
            executables[name] = backend.compile(_program(build))
        except Exception:  # what a backend cannot compile was judged by the run itself
            continue
    if COPY not in executables:
        return ()
    home = held(backend).residence()
    stage = _grown(backend, home, executables[COPY])
    try:
        seconds = {name: stage.best(executable) for name, executable in executables.items()}
    finally:
        stage.close()
    copy = seconds[COPY] / _moved(COPY)
    return tuple(
        Baseline(name, stage.elements, round(taken * 1e6), f"{_moved(name) * copy / taken:.3f}", stage.memory)
        for name, taken in seconds.items()
    )


def _moved(name: str) -> int:
    """Words an element reads and writes."""
    return 2 if name == COPY else 3


def _grown(backend: Backend, home: Residence | None, copy: Executable) -> _Stage:
    """Elements for a hundredth of a second: an interpreter ends, and a GPU has something to do."""
    make = partial(_OnHost, backend) if home is None else partial(_OnDevice, home)
    elements, most = 1 << 10, _LARGEST[ON_HOST if home is None else ON_DEVICE]
    while True:
        try:
            stage = make(elements)
        except VyreError:  # past a limit of the device
            return make(elements // 4)
        try:
            if elements >= most or stage.best(copy, turns=1) >= _ENOUGH:
                return stage
        except BaseException:
            stage.close()
            raise
        stage.close()
        elements = min(4 * elements, most)


class _Stage(Protocol):
    """The buffers of the kernels, and how long one takes on them."""

    @property
    def memory(self) -> str: ...

    @property
    def elements(self) -> int: ...

    def best(self, executable: Executable, *, turns: int = _TURNS) -> float: ...

    def close(self) -> None: ...


class _OnHost:
    memory = ON_HOST

    def __init__(self, backend: Backend, elements: int) -> None:
        self.elements = elements
        views = {name: held(backend).share(4 * elements) for name in _BUFFERS}
        for number, name in enumerate(_INPUTS):
            views[name].cast("B")[:] = _contents(number, elements)
        self._views = {name: v.toreadonly() if name in _INPUTS else v for name, v in views.items()}

    def best(self, executable: Executable, *, turns: int = _TURNS) -> float:
        return _best(lambda: executable.run(self._views, (self.elements // _GROUP, 1, 1)), turns)

    def close(self) -> None:
        """The memory goes with the object."""


class _OnDevice:
    memory = ON_DEVICE

    def __init__(self, home: Residence, elements: int) -> None:
        self.elements = elements
        self._home = home
        self._held: list[ResidentMemory] = []
        try:
            for number, name in enumerate(_BUFFERS):
                self._held.append(home.allocate(4 * elements))
                if name in _INPUTS:
                    self._held[-1].write(_contents(number, elements))
            self._held.append(home.allocate(4))
        except BaseException:
            self.close()
            raise

    def best(self, executable: Executable, *, turns: int = _TURNS) -> float:
        *buffers, last = self._held
        launch = self._home.bind(executable, buffers, (self.elements // _GROUP, 1, 1))
        word = memoryview(bytearray(4))

        def chain(length: int) -> None:
            for _ in range(length):
                launch()
            last.read(word)  # it comes after everything that was asked for before

        length = max(1, min(_CHAIN, int(_ENOUGH / _best(partial(chain, 1), 1))))
        return _best(partial(chain, length), turns) / length

    def close(self) -> None:
        while self._held:
            self._held.pop().free()


def _contents(number: int, elements: int) -> memoryview:
    return memoryview(bytes(k * (83 + number) & 0xFF for k in range(4096)) * (elements // 1024))


def _best(work: Callable[[], None], turns: int) -> float:
    taken: list[float] = []
    for _ in range(turns + 1):  # the first run compiles, copies and warms up
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return max(min(taken[1:]), 1e-9)


def write_annex(
    found: tuple[Baseline, ...],
    certificate: CertificateContents,
    *,
    drops: tuple[Drop, ...] = (),
    key: SigningKey | None = None,
) -> bytes:
    """The annex as a Statement about the certificate's own subject."""
    backend = certificate.backend
    annex = Annex(found, backend.device, backend.driver, drops)
    body = canonical(
        {
            "_type": statement.STATEMENT_TYPE,
            "subject": [{"name": backend.name, "digest": {"sha256": backend.digest}}],
            "predicateType": PREDICATE_TYPE,
            "predicate": statement.sealed_record(encode(annex)),
        }
    )
    return body if key is None else statement.seal(body, statement.PAYLOAD_TYPE, key)


def read_annex(data: bytes) -> tuple[Annex, Any, tuple[str, ...]]:
    """The annex, its subject, and who signed it. Raises `CertificateError` where it was changed."""
    record, signers = statement.opened(data)
    if record.get("_type") != statement.STATEMENT_TYPE or record.get("predicateType") != PREDICATE_TYPE:
        raise CertificateError(
            "this is not a performance annex.", fix="pass the annex that `vyre certify` wrote."
        )
    try:
        predicate = statement.unsealed(record.get("predicate"), "predicate")
        annex = decode(Annex, _current(predicate))
    except FieldError as error:
        raise CertificateError(
            f"this is not a performance annex: {error}.", fix=statement.FETCH_AGAIN
        ) from None
    return annex, record.get("subject"), signers


def _current(predicate: Any) -> Any:
    """An annex of the first schema said nothing of memory: it was the host's. None told device or driver."""
    found = Field(predicate)
    schema = found.field("schema").text((SCHEMA, _WITHOUT_DEVICE, _WITHOUT_MEMORY))
    record = found.record()
    if schema == _WITHOUT_MEMORY:
        old = [{**b.record(), "memory": ON_HOST} for b in found.field("baselines").items()]
        record = {**record, "baselines": old}
    return record if schema == SCHEMA else {**record, "device": "", "driver": "", "drops": []}


def check_annex(data: bytes, document: Document, *, trusted: str | None = None) -> Finding:
    """Whether an annex is whole, about the same backend, and has the baselines the certificate names.

    What is slower than before is shown; it is not wrong, and the levels say whether it counts.
    """
    backend = document.certificate.backend
    try:
        annex, subject, signers = read_annex(data)
    except CertificateError as error:
        place = f"{error.place}: " if error.place else ""
        return Finding("annex", WRONG, place + error.message, error.fix)
    fix = "pass the annex that was written with this certificate."
    if subject != [{"name": backend.name, "digest": {"sha256": document.subject}}]:
        return Finding("annex", WRONG, "it is about another backend, device or driver.", fix)
    names = tuple(b.name for b in annex.baselines)
    if names != document.certificate.baselines:
        return Finding("annex", WRONG, "it has other baselines than the certificate names.", fix)
    if trusted is not None and trusted not in signers:
        return Finding("annex", WRONG, f"it is not signed by {trusted}.", fix)
    slowest = min(annex.baselines, key=lambda b: float(b.of_copy), default=None)
    shown = "no baseline"
    if slowest is not None:
        shown = f"slowest {slowest.name} at {slowest.of_copy} of a copy in memory of the {slowest.memory}"
    if annex.drops:
        shown += f"; slower than before: {'; '.join(map(str, annex.drops))}"
    status = GOOD if signers and not annex.drops else OPEN
    return Finding("annex", status, f"{len(names)} baselines, {shown}")
