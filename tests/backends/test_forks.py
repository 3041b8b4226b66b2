"""A fork after use: `cpu` and `reference` go on in the child, backends with a device refuse by name."""

from __future__ import annotations

import threading

import pytest

from tests.backends.processes import run_script
from vyre.backends.forks import Loading

CHILD = """
def child(what, *, leave=sys.exit):
    '''What `what` prints in a forked child, which must end by itself.'''
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        code = 3
        try:
            what()
            code = 0
        except vyre.VyreError as error:
            print(type(error).__name__, error, flush=True)
            code = 4
        leave(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 4), f"the child ended with {code}"
    return code

backend = sys.argv[1]
skip_unless(backend)
works(backend)
held = vyre.to_device(np.arange(64, dtype=np.uint32), backend=backend)
bound = {"a": vyre.to_device(A, backend=backend), "out": held}
compiled = vyre.compile_program(SHORT, backend=backend)
compiled(bound)
"""

USES = """
uses = [
    lambda: works(backend),
    lambda: compiled(bound),
    lambda: compiled({"a": A, "out": np.zeros(4, np.uint32)}),
    lambda: held.numpy(),
    lambda: held.copy_from(np.zeros(64, np.uint32)),
    lambda: vyre.to_device(A, backend=backend),
    lambda: vyre.device_zeros(4, np.uint32, backend=backend),
    lambda: vyre.backends.get(backend).compile(DAYS),
    lambda: type(vyre.backends.get(backend))(),
]
"""


def printed(script: str, *arguments: str) -> str:
    found = run_script(script, *arguments)
    if found.startswith("SKIP"):
        pytest.skip(found)
    return found


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_the_processor_goes_on_in_the_child(backend: str) -> None:
    script = f"""{CHILD}
def all_of_it():
    works(backend)
    compiled(bound)
    assert held.numpy()[:4].tolist() == [1, 2, 3, 4]
    vyre.to_device(A, backend=backend).close()
    assert child(lambda: works(backend)) == 0  # and in its own child

for leave in (sys.exit, os._exit):
    assert child(all_of_it, leave=leave) == 0
    assert child(lambda: None, leave=leave) == 0
works(backend)
print("fine")
"""
    assert printed(script, backend) == "fine\n"


def test_threads_of_the_parent_do_not_matter() -> None:
    """Others compile and run while the process forks: their locks are not held for ever in the child."""
    script = f"""{CHILD}
os.environ["VYRE_CACHE"] = "off"
stop = threading.Event()

def busy(seed):
    while not stop.is_set():
        seed += 7
        program = text(f"out[invocation.x] = a[0] * {{seed}}")
        dispatch(program, {{"a": A, "out": np.zeros(1 << 18, np.uint32)}}, backend="cpu")

busy_ones = [threading.Thread(target=busy, args=(k,), daemon=True) for k in range(3)]
for thread in busy_ones:
    thread.start()
for turn in range(6):
    fresh = text(f"out[invocation.x] = a[1] + {{turn}}")
    assert child(lambda: dispatch(fresh, {{"a": A, "out": np.zeros(1 << 18, np.uint32)}}, backend="cpu")) == 0
stop.set()
for thread in busy_ones:
    thread.join()
print("fine")
"""
    assert printed(script, "cpu") == "fine\n"


def test_helpers_that_are_being_loaded_do_not_matter() -> None:
    """Another thread needs helpers for the first time, and loads them, when the process forks."""
    script = f"""{CHILD}
import time
assert "vyre.backends.cpu.helper" not in sys.modules

class Slow:
    def find_spec(self, name, path, target=None):
        if name == "vyre.backends.cpu.helper":
            loading.set()
            time.sleep(0.5)

loading = threading.Event()
sys.meta_path.insert(0, Slow())
from vyre.backends.cpu.backend import CpuBackend
several = CpuBackend(threads=3)

def large():
    dispatch(SHORT, {{"a": A, "out": np.zeros(1 << 20, np.uint32)}}, backend=several)

thread = threading.Thread(target=large)
thread.start()
loading.wait()
assert child(large) == 0
thread.join()
print("fine")
"""
    assert printed(script, "cpu") == "fine\n"


@pytest.mark.parametrize("backend", ["wgpu", "opencl", "dawn", "cuda"])
def test_a_device_refuses_by_name(backend: str) -> None:
    script = f"""{CHILD}{USES}
for use in uses:
    assert child(use) == 4
    assert child(use, leave=os._exit) == 4
assert child(lambda: None) == 0
assert child(lambda: (held.close(), gc.collect())) == 0
assert child(lambda: works("cpu")) == 0
works(backend)
assert held.numpy()[:4].tolist() == [1, 2, 3, 4]
"""
    lines = printed(script, backend).splitlines()
    assert len(lines) == 18
    for line in lines:
        assert line.startswith(
            f"BackendUnavailable the backend '{backend}' was opened before this process was"
        )
        assert "Fix: " in line
        assert 'get_context("spawn")' in line


@pytest.mark.parametrize("backend", ["wgpu", "opencl", "dawn", "cuda"])
def test_a_device_that_only_the_children_use(backend: str) -> None:
    script = """
backend = sys.argv[1]
works("cpu")
for turn in range(2):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        skip_unless(backend)
        works(backend)
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
print("fine")
"""
    assert printed(script, backend).endswith("fine\n")


@pytest.mark.parametrize(("parent", "own"), [("wgpu", "dawn"), ("dawn", "opencl"), ("opencl", "wgpu")])
def test_the_child_may_use_what_its_parent_did_not(parent: str, own: str) -> None:
    script = f"""{CHILD}
def use():
    skip_unless(sys.argv[2])
    works(sys.argv[2])
    print("fine")

assert child(use) == 0
"""
    assert printed(script, parent, own) == "fine\n"


def test_a_fork_waits_for_who_is_inside_and_lets_nobody_in() -> None:
    loading, seen = Loading(), list[str]()
    entered, leave = threading.Event(), threading.Event()

    def first() -> None:
        with loading, loading:
            entered.set()
            leave.wait(10)
            seen.append("first is out")

    def second() -> None:
        with loading:
            seen.append("second is in")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert entered.wait(10)
    threading.Timer(0.2, leave.set).start()
    loading.close()
    seen.append("the fork")
    threads.append(threading.Thread(target=second))
    threads[1].start()
    threads[1].join(0.1)
    with loading:  # the thread that forks may
        seen.append("the fork's own")
    loading.open()
    for thread in threads:
        thread.join(10)
    assert seen == ["first is out", "the fork", "the fork's own", "second is in"]


def test_a_fork_does_not_wait_for_ever() -> None:
    loading, entered, leave = Loading(), threading.Event(), threading.Event()
    loading.PATIENCE = 0.1

    def stuck() -> None:
        with loading:
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=stuck)
    thread.start()
    assert entered.wait(10)
    loading.close()
    loading.open()
    leave.set()
    thread.join(10)
