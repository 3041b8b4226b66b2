"""Files that vyre keeps for itself: in folders of this user's alone, read without trusting what lies there.

    cache_directory()           where what can be rebuilt is kept, None where there is no home to keep it in
    distrust(folder)            why a folder may not be used, nothing where it may
    read_own(path, limit)       a plain file of this user's, else None: never a pipe, a device or a link
    write_own(path, data)       whole or not at all

Machine code and proofs are believed when they are found here. Whoever can write to a folder, or swap one of
the folders it lies in, decides what is found; so all of them are checked, up to the root.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from vyre.errors import VyreError

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
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()
    except RuntimeError:
        return None
    return root / "vyre"


def chosen_folder(variable: str, value: str) -> Path:
    """The folder that an environment variable names. Raises `VyreError` where it names none."""
    try:
        if "\0" in value:
            raise RuntimeError("a name with a null byte")
        return Path(value).expanduser()
    except RuntimeError:
        user = value[1:].partition("/")[0] if value.startswith("~") else ""
        what = f"there is no home of a user {user!r}" if user else "there is no home folder"
        raise VyreError(
            f"{variable} is {value!r}, and {what}.", fix=f"set {variable} to the full path of a folder."
        ) from None


def private_folder(folder: Path) -> bool:
    """Whether the folder, made where it is missing, is this user's alone."""
    with suppress(OSError, ValueError):
        missing = [p for p in (folder, *folder.parents) if not p.exists()]
        for path in reversed(missing):
            path.mkdir(mode=0o700, exist_ok=True)
    return not distrust(folder)


def distrust(folder: Path) -> str:
    """Why nothing in this folder may be believed: somebody else owns it, or may write to it or above it."""
    try:
        facts = folder.stat()
        real = folder.resolve(strict=True)
        links = [p.lstat() for p in (folder.absolute(), *folder.absolute().parents)]
        above = [(path, path.stat()) for path in real.parents]
    except (OSError, ValueError, RuntimeError) as error:
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


def own_subfolder(folder: Path) -> bool:
    """Whether a folder inside a trusted one is a real folder, this user's and nobody else's to write."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    mine = facts.st_uid == _user(facts) and not facts.st_mode & _OTHERS_WRITE
    return stat.S_ISDIR(facts.st_mode) and mine


def open_plain(path: Path, *, follow: bool = True) -> BinaryIO:
    """A plain file, open for reading. Anything else raises `OSError` at once: a pipe is not waited for."""
    flags = _PLAIN if follow else _PLAIN | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not a plain file", str(path))
    return os.fdopen(descriptor, "rb")


def read_own(path: Path, limit: int) -> bytes | None:
    """What a file of this user's holds, None where there is none of at most `limit` bytes to be trusted."""
    try:
        with open_plain(path, follow=False) as file:
            facts = os.fstat(file.fileno())
            if facts.st_uid != _user(facts) or facts.st_mode & _OTHERS_WRITE or facts.st_size > limit:
                return None
            return file.read(limit)
    except (OSError, ValueError):
        return None


def write_own(path: Path, data: bytes) -> None:
    """Writes a file for this user alone, whole or not at all. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not own_subfolder(path.parent):
        raise OSError(0, "the folder is not this user's alone", str(path.parent))
    import tempfile  # a process that only reads is quicker without it

    handle, name = tempfile.mkstemp(dir=path.parent, prefix="new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise


def _user(facts: os.stat_result) -> int:
    """Who runs this process; on a system without users, whoever owns the file."""
    return getattr(os, "geteuid", lambda: facts.st_uid)()
