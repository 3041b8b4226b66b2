"""Files that a user names: read whole and within a limit, written whole or not at all.

    read_bytes("a.npy")                    the whole file; what cannot be read is a `VyreError` that says why
    read_document("cpu.json")              the same for a certificate, an annex or a list
    write_bytes("cpu.json", data)

What vyre keeps for itself, and must be able to trust, goes through `vyre.disk`.
"""

from __future__ import annotations

from pathlib import Path

from vyre.errors import VyreError

PROGRAM_BYTES = 64 * 1024 * 1024
DOCUMENT_BYTES = 1024 * 1024 * 1024


def read_document(name: str) -> bytes:
    """A certificate, an annex or a list: a file of a bounded size."""
    return read_bytes(name, limit=DOCUMENT_BYTES)


def read_bytes(name: str, *, limit: int | None = None) -> bytes:
    """The whole file; more than `limit` bytes are an error, and are not read."""
    try:
        with Path(name).open("rb") as file:
            data = file.read() if limit is None else file.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise VyreError(
            f"cannot read {name!r}: {reason}.", fix="check the path and its permissions."
        ) from None
    except MemoryError:
        raise VyreError(f"{name!r} does not fit into memory.", fix="pass a smaller file.") from None
    if limit is not None and len(data) > limit:
        what = "program within the limits" if limit == PROGRAM_BYTES else "document of vyre's"
        raise VyreError(
            f"{name!r} has more than {limit} bytes, which no {what} takes.",
            fix="pass a file that vyre has written.",
        )
    return data


def write_bytes(name: str, data: bytes) -> None:
    """Writes through a temporary file, so that a full disk leaves no half-written result.

    A device or a pipe is written as it is, and a link is followed: neither may be replaced by a file.
    """
    part = None
    try:
        path = Path(name).resolve()
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        part = path.with_name(path.name + ".part")
        part.write_bytes(data)
        part.replace(path)
    except (OSError, ValueError, RuntimeError) as error:  # a null byte in the name, a circle of links
        if part is not None:
            part.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise VyreError(
            f"cannot write {name!r}: {reason}.", fix="check the path, its permissions and free space."
        ) from None
