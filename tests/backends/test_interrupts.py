"""Ctrl-C ends a call whose loops would run for days; the next call works, and the process ends."""

from __future__ import annotations

from threading import Event

import pytest

from tests.backends.processes import run_script
from vyre.backends.interrupts import aside, meanwhile

INTERRUPTED = """
def interrupted(call, after=0.5):
    '''The seconds from the signal to the KeyboardInterrupt of `call`.'''
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    sys.exit("the call came back by itself")

def soon(call):
    took = interrupted(call)
    assert took < LIMIT, f"it took {took:.1f} s"
"""

SHAPES = {
    "one invocation": ("DAYS", 1),
    "every thread": ("DAYS", 6400),
    "a barrier": (
        "text('for k in 0..4294967295 { for j in 0..4294967295 { out[invocation.x] = k ^ j\\n barrier } }')",
        64,
    ),
    "atomics": (
        "text('for k in 0..4294967295 { for j in 0..4294967295 { let o = atomic_add(out[0], k) } }')",
        64,
    ),
    "soft floats": (
        "text('let x = cast<F32>(a[1])\\n for k in 0..4294967295 { for j in 0..4294967295 {"
        " x := fma(fexp(x), fsin(x), x) } }\\n out[0] = cast<U32>(x)')",
        64,
    ),
    "a large grid": ("text('for k in 0..100000 { out[k] = out[k] * 3 + a[0] }', 1)", 1 << 22),
}
LIMIT = 3.0  # a second is promised; the rest is for a loaded machine


@pytest.mark.parametrize("shape", SHAPES)
def test_on_the_processor(shape: str) -> None:
    program, length = SHAPES[shape]
    script = f"""
LIMIT = {LIMIT}{INTERRUPTED}
program, out = {program}, np.zeros({length}, np.uint32)
works("cpu")
held = vyre.to_device(out, backend="cpu")
dispatch_it = vyre.compile_program(program, backend="cpu")
for turn in range(3):
    soon(lambda: dispatch_it({{"a": A, "out": out}}, copy=True))
    works("cpu")
    soon(lambda: dispatch_it({{"a": A, "out": held}}))
    soon(lambda: dispatch_it({{"a": A, "out": out}}))
assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL
held.close()
threads = [t for t in threading.enumerate() if t.name == "vyre-cpu"]
works("cpu")
print("fine", len(threads) <= (os.cpu_count() or 1))
"""
    assert run_script(script) == "fine True\n"


def test_handlers_that_do_not_raise_leave_the_run_alone() -> None:
    script = """
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
program = text("for k in 0..5000 { out[invocation.x] = out[invocation.x] * 3 + k }")
out = np.zeros(1 << 18, np.uint32)
want = dispatch(program, {"a": A, "out": out}, backend="cpu", copy=True)["out"]
timers = [threading.Timer(0.01 * k, lambda: os.kill(os.getpid(), signal.SIGUSR1)) for k in range(1, 20)]
for timer in timers:
    timer.start()
got = dispatch(program, {"a": A, "out": out}, backend="cpu", copy=True)["out"]
for timer in timers:
    timer.join()
assert np.array_equal(got, want)
print("fine", bool(seen))
"""
    assert run_script(script) == "fine True\n"


def test_a_handler_of_the_users_for_the_same_signal_is_put_back() -> None:
    script = f"""
LIMIT = {LIMIT}{INTERRUPTED}
seen = []
signal.signal(signal.SIGURG, lambda *_: seen.append(1))
soon(lambda: dispatch(DAYS, {{"a": A, "out": np.zeros(6400, np.uint32)}}, backend="cpu"))
assert not seen
os.kill(os.getpid(), signal.SIGURG)
time.sleep(0.01)
print("fine", seen)
"""
    assert run_script(script) == "fine [1]\n"


def test_another_thread_goes_on_while_the_main_one_is_interrupted() -> None:
    """Two runs on one backend: only that of the main thread ends."""
    script = f"""
LIMIT = {LIMIT}{INTERRUPTED}
program = text("for k in 0..4000 {{ out[invocation.x] = out[invocation.x] * 3 + k }}")
out = np.zeros(1 << 18, np.uint32)
want = dispatch(program, {{"a": A, "out": out}}, backend="cpu", copy=True)["out"]
wrong, stop = [], threading.Event()

def others():
    while not stop.is_set():
        found = dispatch(program, {{"a": A, "out": out}}, backend="cpu", copy=True)["out"]
        if not np.array_equal(found, want):
            wrong.append(1)

thread = threading.Thread(target=others)
thread.start()
for turn in range(3):
    soon(lambda: dispatch(DAYS, {{"a": A, "out": np.zeros(6400, np.uint32)}}, backend="cpu"))
stop.set()
thread.join()
print("fine", wrong)
"""
    assert run_script(script) == "fine []\n"


def test_on_dawn_the_device_is_left_alone_with_its_work() -> None:
    script = f"""
LIMIT = {LIMIT}{INTERRUPTED}
skip_unless("dawn")
works("dawn")
out = np.zeros(6400, np.uint32)
before = vyre.to_device(out, backend="dawn")
for turn in range(2):
    soon(lambda: dispatch(DAYS, {{"a": A, "out": out}}, backend="dawn"))
    works("dawn")
try:
    before.numpy()
    sys.exit("a buffer of the device that was left alone was read")
except vyre.DeviceLost as error:
    assert "interrupted" in error.message, error
before.close()
held = vyre.to_device(out, backend="dawn")
dispatch(DAYS, {{"a": vyre.to_device(A, backend="dawn"), "out": held}}, backend="dawn")
soon(held.numpy)
held.close()
works("dawn")
backend = vyre.backends.get("dawn")
assert len(backend._abandoned) == 3
print("fine")
"""
    found = run_script(script)
    if found.startswith("SKIP"):
        pytest.skip(found)
    assert found == "fine\n"


def test_on_dawn_what_was_left_alone_is_freed_when_its_work_is_done() -> None:
    script = f"""
LIMIT = 60{INTERRUPTED}
skip_unless("dawn")
works("dawn")
backend = vyre.backends.get("dawn")
out = np.zeros(6400, np.uint32)
turns = 20000
while not backend._abandoned:
    turns *= 2
    program = text(f"let s = 0\\n for k in 0..{{turns}} {{{{ s := s * 3 + k ^ a[k & 3] }}}}\\n out[0] = s")
    compiled = vyre.compile_program(program, backend="dawn")
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        compiled({{"a": A, "out": out}})
        timer.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        pass
device = backend._abandoned[0]
assert device._kept, "its buffers were freed while it works"
end = time.monotonic() + 60
while backend._abandoned and time.monotonic() < end:
    works("dawn")
    time.sleep(0.1)
print("fine", backend._abandoned, device._kept)
"""
    found = run_script(script)
    if found.startswith("SKIP"):
        pytest.skip(found)
    assert found == "fine [] []\n"


@pytest.mark.parametrize("backend", ["wgpu", "opencl", "reference"])
def test_elsewhere_nothing_is_spoilt(backend: str) -> None:
    """The interrupt may wait for the work; what comes after it is right."""
    script = f"""
LIMIT = 60{INTERRUPTED}
skip_unless(sys.argv[1])
works(sys.argv[1])
turns = 300 if sys.argv[1] == "reference" else 30000
loop = f"for k in 0..{{turns}} {{{{ s := (s * 1664525 + k) ^ a[k & 3] }}}}"
program = text(f"let s = 0\\n {{loop}}\\n out[invocation.x] = s")
out = np.zeros(6400, np.uint32)
compiled = vyre.compile_program(program, backend=sys.argv[1])
for turn in range(2):
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        compiled({{"a": A, "out": out}})
        time.sleep(0.3)
    except KeyboardInterrupt:
        pass
    works(sys.argv[1])
print("fine")
"""
    found = run_script(script, backend)
    if found.startswith("SKIP"):
        pytest.skip(found)
    assert found == "fine\n"


def test_interrupts_at_any_moment_lose_neither_threads_nor_results() -> None:
    """Some come while helpers start, between a check and a wait, or when the run is already over."""
    script = """
import random
program = text("for k in 0..20 { out[invocation.x] = out[invocation.x] * 3 + a[k & 3] }")
ready = [vyre.compile_program(p, backend="cpu") for p in (DAYS, program)]
out, rng, seen = np.zeros(1 << 20, np.uint32), random.Random(7), 0
works("cpu")
signal.signal(signal.SIGALRM, signal.default_int_handler)
for turn in range(150):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + rng.choice([0.0005, 0.002, 0.01]) * rng.random())
        while True:
            rng.choice(ready)({"a": A, "out": out})
    except KeyboardInterrupt:
        seen += 1
    works("cpu")
print("fine", seen, threading.active_count() <= 2 + (os.cpu_count() or 1))
"""
    assert run_script(script) == "fine 150 True\n"


def test_a_wait_is_spent_on_other_work_once() -> None:
    begun, done = Event(), Event()
    seen: list[str] = []

    def work() -> str:
        begun.set()
        assert done.wait(10)  # the other work is done while this one runs
        return "result"

    def spare() -> None:
        assert begun.wait(10)
        seen.append("spare")
        done.set()

    with meanwhile(spare):
        assert aside(work) == "result"
        assert aside(lambda: 3) == 3
    assert aside(lambda: 4) == 4
    assert seen == ["spare"]


def test_an_error_of_the_other_work_is_not_the_result() -> None:
    def fails() -> None:
        raise KeyError

    with meanwhile(fails):
        assert aside(lambda: 1) == 1
