"""Find files with the same contents by BLAKE3, and show that they are the same.

python examples/duplicate_files.py
python examples/duplicate_files.py ~/pictures --backend cuda
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path

from vyre.library import hashing

HERE = Path(argparse.__file__).parent  # Python's own library
BATCH = 64 << 20
"""Bytes that are hashed at once."""


def batches(paths: list[Path]) -> list[list[Path]]:
    """Files in lists of so many bytes together."""
    found: list[list[Path]] = [[]]
    size = 0
    for path in paths:
        size += path.stat().st_size
        if size > BATCH and found[-1]:
            found.append([])
            size = path.stat().st_size
        found[-1].append(path)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--most", type=float, default=100, help="megabytes to hash [100]")
    parser.add_argument("--backend", help="where to run [the default]")
    options = parser.parse_args(arguments)
    hashing.blake3([b"a", bytes(5000)], backend=options.backend)  # compiles
    sizes: dict[int, list[Path]] = defaultdict(list)
    for path in sorted(options.folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size:
            sizes[path.stat().st_size].append(path)
    paths, left = [], int(options.most * 1e6)
    for size, same in sizes.items():  # a file is compared with those of its size
        if len(same) > 1 and size * len(same) <= left:
            paths += same
            left -= size * len(same)
    digests: dict[bytes, list[Path]] = defaultdict(list)
    size, taken = 0, 0.0
    for batch in batches(paths) if paths else []:
        contents = [path.read_bytes() for path in batch]
        began = time.perf_counter()
        rows = hashing.blake3(contents, backend=options.backend)
        taken += time.perf_counter() - began
        size += sum(map(len, contents))
        for path, row in zip(batch, rows, strict=True):
            digests[bytes(row)].append(path)
    groups = [same for same in digests.values() if len(same) > 1]
    spare = 0
    for same in groups:
        whole = same[0].read_bytes()
        spare += len(whole) * (len(same) - 1)
        if any(path.read_bytes() != whole for path in same):
            raise SystemExit(f"{same[0]} has a digest that it should not have")
    alone = {same[0].read_bytes() for same in digests.values()}
    if len(alone) != len(digests):
        raise SystemExit("files with the same contents have different digests")
    print(f"{len(groups)} contents are there more than once, byte for byte; {spare} bytes could be spared")
    for same in sorted(groups, key=lambda same: -same[0].stat().st_size)[:3]:
        print(f"  {len(same)} times {same[0].relative_to(options.folder)}")
    if taken:
        print(f"{size / taken / 1e6:.1f} MB a second, {len(paths)} files")


if __name__ == "__main__":
    main()
