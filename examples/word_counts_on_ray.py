"""Count the words of a folder on a Ray cluster; one worker is killed, and the counts are the same.

pip install 'vyre[ray]'
python examples/word_counts_on_ray.py
python examples/word_counts_on_ray.py ~/src --suffix .md --address auto

Words are counted part by part and merged in the order of the words, so that neither who was done first nor
who had to begin anew shows.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from vyre.library import strings, tables

HERE = Path(argparse.__file__).parent  # Python's own sources
LETTERS = b"abcdefghijklmnopqrstuvwxyz"
ASKED = {"count": ("count", "sum")}


def words_of(data: bytes, backend: str | None = None) -> tables.Column:
    """The runs of letters of ASCII, in small ones."""
    small = strings.lower(data, backend=backend)
    inside = np.concatenate([[0], strings.is_any(small, LETTERS, backend=backend).astype(np.int8), [0]])
    turns = np.diff(inside)
    spans = np.stack([np.nonzero(turns == 1)[0], np.nonzero(turns == -1)[0]], axis=1)
    return tables.texts(small, spans, backend=backend)


def counted(paths: list[str], killed: str | None, backend: str | None) -> dict[str, list[Any]]:
    """The words of some files and how often they are there; dies once, and leaves the file `killed`."""
    if killed is not None and not Path(killed).exists():
        Path(killed).touch()
        os._exit(1)
    words = words_of(b"\n".join(Path(path).read_bytes() for path in paths), backend)
    ones = np.ones(words.length, np.int64)
    return tables.group_by({"word": words, "count": ones}, "word", ASKED, backend=backend).to_dict()


def merged(parts: list[dict[str, list[Any]]], backend: str | None) -> dict[str, list[Any]]:
    """All counts together, in the order of the words."""
    whole = {name: [x for part in parts for x in part[name]] for name in ("word", "count")}
    return tables.group_by(whole, "word", ASKED, backend=backend).to_dict()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--suffix", default=".py", help="of the files [.py]")
    parser.add_argument("--files", type=int, default=400, help="the most files to read [400]")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--address", default="local", help="of the cluster [one is started here]")
    parser.add_argument("--backend", help="where to run [the default]")
    options = parser.parse_args(arguments)
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        print("this example needs Ray: pip install 'vyre[ray]'")
        return
    paths = [str(path) for path in sorted(options.folder.rglob(f"*{options.suffix}")) if path.is_file()]
    paths = paths[: options.files]
    shares = [share for share in (paths[k :: options.parts] for k in range(options.parts)) if share]
    if not shares:
        raise SystemExit(f"there are no files {options.suffix} in {options.folder}")
    ray.init(address=options.address, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        task = ray.remote(max_retries=3)(counted)
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "killed"
            began = time.perf_counter()
            asked = [
                task.remote(s, str(mark) if k == 0 else None, options.backend) for k, s in enumerate(shares)
            ]
            found = merged(ray.get(asked), options.backend)
            taken = time.perf_counter() - began
            if not mark.exists():
                raise SystemExit("no worker was killed")
    finally:
        ray.shutdown()
    expected: Counter[str] = Counter()
    size = 0
    for path in paths:
        data = Path(path).read_bytes()
        size += len(data)
        expected.update(word.decode() for word in re.findall(rb"[a-z]+", data.lower()))
    if dict(zip(found["word"], found["count"], strict=True)) != expected or found["word"] != sorted(expected):
        raise SystemExit("a Counter of Python says otherwise")
    print(f"{sum(found['count'])} words, {len(expected)} different ones, of {len(paths)} files")
    print("a worker was killed, and every count is that of a Counter")
    print(f"{size / taken / 1e6:.2f} MB a second, workers started included")


if __name__ == "__main__":
    main()
