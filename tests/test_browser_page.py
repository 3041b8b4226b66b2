"""The page of `examples/browser` runs an exported kernel in Chromium by WebGPU, and says what is wrong.

Chromium is driven from outside: a server on the loopback hands out the page with one script more, which posts
the page's verdict back. No time is assumed but a bound on the whole.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

EXAMPLE = Path(__file__).parents[1] / "examples" / "browser"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 240.0
FLAGS = [
    "--headless=new",
    "--no-sandbox",  # needed by root, as which containers run; the page comes from this test
    "--enable-unsafe-webgpu",  # also where no hardware is trusted
    "--use-webgpu-adapter=swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-breakpad",
    "--disable-dev-shm-usage",
]
WATCH = b"""<script>
new MutationObserver(() => fetch("/verdict", { method: "POST", body: JSON.stringify({
  kind: document.documentElement.dataset.verdict, text: document.body.innerText }) }))
  .observe(document.documentElement, { attributes: true, attributeFilter: ["data-verdict"] });
</script>
"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is missing: apt-get install chromium")


class Watched(SimpleHTTPRequestHandler):
    """Serves a folder, the page with the watcher in it, and takes the verdict."""

    def __init__(self, *args: Any, verdicts: queue.Queue[dict[str, str]], **named: Any) -> None:
        self._verdicts = verdicts
        super().__init__(*args, **named)

    def do_GET(self) -> None:
        if self.path != "/":
            super().do_GET()
            return
        page = Path(self.directory, "index.html").read_bytes().replace(b"</head>", WATCH + b"</head>")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def do_POST(self) -> None:
        self._verdicts.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the requests are of no interest."""


@contextmanager
def served(folder: Path, verdicts: queue.Queue[dict[str, str]]) -> Generator[str, None, None]:
    handler = partial(Watched, directory=str(folder), verdicts=verdicts)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def browsing(address: str, profile: Path) -> Generator[subprocess.Popen[bytes], None, None]:
    """Chromium at that page; with all its processes gone at the end, whatever happens."""
    assert CHROMIUM is not None
    home = {
        **os.environ,
        "HOME": str(profile),
        "XDG_CONFIG_HOME": str(profile),
        "XDG_CACHE_HOME": str(profile),
    }
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", address]
    process = subprocess.Popen(
        command, env=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def verdict_of(folder: Path, profile: Path) -> dict[str, str]:
    """What the page says in the end. Skips where this Chromium has no WebGPU."""
    verdicts: queue.Queue[dict[str, str]] = queue.Queue()
    with served(folder, verdicts) as address, browsing(address, profile) as process:
        try:
            found = verdicts.get(timeout=PATIENCE)
        except queue.Empty:
            pytest.fail(f"no verdict within {PATIENCE:g} s; Chromium's status is {process.poll()}.")
    if "has no WebGPU" in found["text"] or "finds no GPU" in found["text"]:
        pytest.skip("this Chromium has no WebGPU")
    return found


def make(folder: Path, *options: str) -> Path:
    command = [sys.executable, str(EXAMPLE / "make.py"), "--folder", str(folder), "--size", "40", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("page"))


def test_the_browser_computes_the_bytes_of_another_backend(made: Path, tmp_path: Path) -> None:
    found = verdict_of(made, tmp_path)
    assert found["kind"] == "same", found["text"]
    assert "All 4,800 bytes are the same." in found["text"]
    assert "soft: exact on every device" in found["text"]


def test_guarded_floats_are_the_same_bytes(tmp_path: Path) -> None:
    found = verdict_of(make(tmp_path / "page", "--floats", "guarded"), tmp_path / "profile")
    assert found["kind"] == "same", found["text"]
    assert "guarded: exact where" in found["text"]


def test_a_kernel_that_is_wrong_shows_at_its_first_element(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "page")
    case = json.loads((folder / "case.json").read_text())
    case["scalars"]["left"] += case["scalars"]["step"]
    (folder / "case.json").write_text(json.dumps(case))
    found = verdict_of(folder, tmp_path / "profile")
    assert found["kind"] == "different", found["text"]
    assert "of 1,200 elements differ: out[" in found["text"]


def test_a_scalar_that_is_left_out_is_named(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "page")
    case = json.loads((folder / "case.json").read_text())
    del case["scalars"]["dim_m"]
    (folder / "case.json").write_text(json.dumps(case))
    found = verdict_of(folder, tmp_path / "profile")
    assert found["kind"] == "error", found["text"]
    assert "nothing was given for dim_m, the elements along axis 0 of out." in found["text"]


def test_a_manifest_of_another_format_is_refused(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "page")
    record = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**record, "format": "vyre-kernel-2"}))
    found = verdict_of(folder, tmp_path / "profile")
    assert found["kind"] == "error", found["text"]
    assert "the manifest is vyre-kernel-2 in wgsl" in found["text"]
