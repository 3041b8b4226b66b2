"""Hashes, checksums and random numbers in bulk: many messages in one call, or one long one in parts.

    sha256, hmac_sha256, blake3            digests, 32 bytes of uint8 a message
    crc32, crc32c, fnv1a_32, xxh32         a uint32 a message
    fnv1a_64, xxh64                        a uint64 a message
    philox_u32, philox_uniform, philox_normal     random numbers, a pure function of seed, stream and place

Messages are what `vyre.library.messages` says. Each module is loaded with its first function.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from vyre.library.hashing.blake3_tree import blake3
    from vyre.library.hashing.crc import crc32, crc32c
    from vyre.library.hashing.fnv import fnv1a_32, fnv1a_64
    from vyre.library.hashing.philox import philox_normal, philox_u32, philox_uniform
    from vyre.library.hashing.sha2 import hmac_sha256, sha256
    from vyre.library.hashing.xxhash import xxh32, xxh64

__all__ = [
    "blake3", "crc32", "crc32c", "fnv1a_32", "fnv1a_64", "hmac_sha256", "philox_normal", "philox_u32",
    "philox_uniform", "sha256", "xxh32", "xxh64",
]  # fmt: skip

if not TYPE_CHECKING:
    _HOMES = {
        "blake3_tree": "blake3",
        "crc": "crc32 crc32c",
        "fnv": "fnv1a_32 fnv1a_64",
        "philox": "philox_normal philox_u32 philox_uniform",
        "sha2": "hmac_sha256 sha256",
        "xxhash": "xxh32 xxh64",
    }
    _HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

    def __getattr__(name):  # noqa: ANN001, ANN202 - typing would cost an import
        from importlib import import_module

        if name not in _HOME_OF:
            raise AttributeError(f"module 'vyre.library.hashing' has no attribute {name!r}")
        home = import_module(f"vyre.library.hashing.{_HOME_OF[name]}")
        value = globals()[name] = getattr(home, name)
        return value
