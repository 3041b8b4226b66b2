"""Search all files of a folder for 1,000 words at once, by Aho-Corasick; compared with plain Python.

python examples/search_folder.py
python examples/search_folder.py ~/src --suffix .c --words words.txt --backend cuda
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import numpy as np

from vyre.library import matching

HERE = Path(argparse.__file__).parent  # Python's own sources


def found_in(folder: Path, suffix: str, most: int) -> tuple[list[Path], list[bytes]]:
    """Files below a folder, in the order of their names, up to so many bytes together."""
    files, contents, size = [], [], 0
    for path in sorted(folder.rglob(f"*{suffix}")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            size += len(data)
            if size > most:
                break
            files.append(path)
            contents.append(data)
    return files, contents


def some_words(data: bytes, count: int) -> list[bytes]:
    """Words of the text itself, evenly chosen from all."""
    known = sorted(set(re.findall(rb"[A-Za-z_]{6,}", data)))
    return known[:: max(len(known) // count, 1)][:count]


def occurrences(data: bytes, word: bytes) -> list[int]:
    """Where a word begins; overlapping ones count."""
    places, place = [], data.find(word)
    while place >= 0:
        places.append(place)
        place = data.find(word, place + 1)
    return places


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--suffix", default=".py", help="of the files [.py]")
    parser.add_argument(
        "--words", type=Path, help="a file with a word a line [words of the files themselves]"
    )
    parser.add_argument("--count", type=int, default=1000, help="how many words to choose [1000]")
    parser.add_argument("--most", type=float, default=16, help="megabytes to read [16]")
    parser.add_argument("--backend", help="where to run [the default]")
    options = parser.parse_args(arguments)
    files, contents = found_in(options.folder, options.suffix, int(options.most * 1e6))
    # No word has a zero byte, so none is found across the end of a file.
    data = b"\0".join(contents)
    if options.words is not None:
        words = sorted({w for w in options.words.read_bytes().split(b"\n") if w and b"\0" not in w})
    else:
        words = some_words(data, options.count)
    if not words:
        where = f"the {options.suffix} files of {options.folder}"
        raise SystemExit(f"there are no words in {where}. Fix: name others with --suffix.")
    automaton = matching.Words(words)
    automaton.find(data[: 1 << 16], backend=options.backend)  # compiles
    began = time.perf_counter()
    spans, ids = automaton.find(data, backend=options.backend)
    taken = time.perf_counter() - began
    began = time.perf_counter()
    expected = {k: occurrences(data, word) for k, word in enumerate(words)}
    plain = time.perf_counter() - began
    order = np.argsort(ids, kind="stable")
    starts = spans[order, 0].tolist()
    ends = np.searchsorted(ids[order], np.arange(len(words) + 1)).tolist()
    for k in range(len(words)):
        if starts[ends[k] : ends[k + 1]] != expected[k]:
            raise SystemExit(f"Python finds {words[k]!r} elsewhere")
    print(f"{len(spans)} places of {len(words)} words in {len(data)} bytes, all as Python finds them")
    bounds = np.cumsum([0, *(len(c) + 1 for c in contents)])
    per_file = np.bincount(np.searchsorted(bounds, spans[:, 0], "right") - 1, minlength=len(files))
    for k in np.argsort(-per_file, kind="stable")[:3]:
        print(f"  {per_file[k]} in {files[k].relative_to(options.folder)}")
    print(f"{len(data) / taken / 1e6:.1f} MB a second; Python, word by word: {len(data) / plain / 1e6:.1f}")


if __name__ == "__main__":
    main()
