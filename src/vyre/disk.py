"""Files that vyre keeps for itself: in folders of this user's alone, read without trusting what lies there.

    cache_directory()           where what can be rebuilt is kept, None where there is no home to keep it in
    distrust(folder)            why a folder may not be used, nothing where it may
    read_own(path, limit)       a plain file of this user's, else None: never a pipe, a device or a link
    write_own(path, data)       whole or not at all
    digest_of(parts)            what such files are named and sealed by: 32 bytes

Machine code and proofs are believed when they are found here. Whoever can write to a folder, or swap one of
the folders it lies in, decides what is found; so all of them are checked, up to the root.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from vyre.errors import VyreError

try:
    from _blake2 import blake2b  # where `hashlib` has it from, which loads all of OpenSSL as well
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    Place = str | os.PathLike[str]
    """Texts will do: a first call is quicker without `pathlib`."""

_OTHERS_WRITE = 0o022
_STICKY = 0o1000
_PLAIN = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)


def cache_directory() -> Path | None:
    """`$XDG_CACHE_HOME/vyre`, else `~/.cache/vyre`; None for a user without a home."""
    from pathlib import Path

    found = cache_folder()
    return None if found is None else Path(found)


def cache_folder() -> str | None:
    """The same as text."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    return None if root.startswith("~") else os.path.join(root, "vyre")


def chosen_folder(variable: str, value: str) -> str:
    """The folder that an environment variable names. Raises `VyreError` where it names none."""
    found = value if "\0" in value else os.path.expanduser(value)
    if "\0" in found or found.startswith("~"):
        user = value[1:].partition("/")[0] if value.startswith("~") else ""
        what = f"there is no home of a user {user!r}" if user else "there is no home folder"
        raise VyreError(
            f"{variable} is {value!r}, and {what}.", fix=f"set {variable} to the full path of a folder."
        )
    return found


def private_folder(folder: Place) -> bool:
    """Whether the folder, made where it is missing, is this user's alone."""
    with suppress(OSError, ValueError):
        whole = os.fspath(folder)
        missing = [path for path in (whole, *_above(whole)) if not os.path.exists(path)]
        for path in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(path, 0o700)
    return not distrust(folder)


def distrust(folder: Place) -> str:
    """Why nothing in this folder may be believed: somebody else owns it, or may write to it or above it."""
    try:
        facts = os.stat(folder)
        real = os.path.realpath(folder, strict=True)
        whole = os.path.join(os.getcwd(), folder)
        links = [os.lstat(path) for path in (whole, *_above(whole))]
        above = [(path, os.stat(path)) for path in _above(real)]
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return f"{folder} cannot be used: {reason}"
    if not stat.S_ISDIR(facts.st_mode):
        return f"{folder} is not a folder"
    if facts.st_uid != _user(facts):
        return f"{folder} belongs to another user"
    if facts.st_mode & _OTHERS_WRITE:
        return f"others may write to {folder}"
    for path, found in above:
        if found.st_uid not in (0, _user(found)):
            return f"{path} belongs to another user"
        if found.st_mode & _OTHERS_WRITE and not found.st_mode & _STICKY:
            return f"others may write to {path}"
    if any(link.st_uid not in (0, _user(link)) for link in links):
        return f"{folder} is reached through a link of another user"
    return ""


def _above(path: str) -> Iterator[str]:
    """The folders that a path goes through, the nearest first."""
    while (parent := os.path.dirname(path)) not in ("", path):
        yield parent
        path = parent


def own_subfolder(folder: Place) -> bool:
    """Whether a folder inside a trusted one is a real folder, this user's and nobody else's to write."""
    try:
        facts = os.lstat(folder)
    except OSError:
        return False
    mine = facts.st_uid == _user(facts) and not facts.st_mode & _OTHERS_WRITE
    return stat.S_ISDIR(facts.st_mode) and mine


def open_plain(path: Place, *, follow: bool = True) -> BinaryIO:
    """A plain file, open for reading. Anything else raises `OSError` at once: a pipe is not waited for."""
    flags = _PLAIN if follow else _PLAIN | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not a plain file", str(path))
    return os.fdopen(descriptor, "rb")


def read_own(path: Place, limit: int) -> bytes | None:
    """What a file of this user's holds, None where there is none of at most `limit` bytes to be trusted."""
    try:
        with open_plain(path, follow=False) as file:
            facts = os.fstat(file.fileno())
            if facts.st_uid != _user(facts) or facts.st_mode & _OTHERS_WRITE or facts.st_size > limit:
                return None
            return file.read(limit)
    except (OSError, ValueError):
        return None


def write_own(path: Place, data: bytes) -> None:
    """Writes a file for this user alone, whole or not at all. Raises `OSError`."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not own_subfolder(folder):
        raise OSError(0, "the folder is not this user's alone", folder)
    import tempfile  # a process that only reads is quicker without it

    handle, name = tempfile.mkstemp(dir=folder, prefix="new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise


def digest_of(parts: Iterable[bytes]) -> bytes:
    digest = blake2b(digest_size=32)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _user(facts: os.stat_result) -> int:
    """Who runs this process; on a system without users, whoever owns the file."""
    return getattr(os, "geteuid", lambda: facts.st_uid)()
