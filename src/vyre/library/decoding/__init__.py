"""Bytes to values and back. Where the input may be wrong the result is a `Decoded`: what comes before the
first element that does not belong, and the place of that element.

    encode_hex, decode_hex; encode_base64, decode_base64        text for bytes
    validate_utf8, decode_utf8, encode_utf8                     code points as uint32
    encode_varint, decode_varint                                uint32 and uint64
    encode_zigzag, decode_zigzag; encode_delta, decode_delta    int32 and uint32
    encode_runs, decode_runs; pack_bits, unpack_bits            uint32
    encode_lz4, decode_lz4                                      blocks of LZ4
    parse_floats, print_floats                                  float64 and float32 as decimal text
    parse_integers, print_integers                              int64, uint64, int32, uint32 as decimal text

Bytes are one message as in `vyre.library.messages`. Each module is loaded with its first function.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from vyre.library.decoding.base64 import decode_base64, encode_base64
    from vyre.library.decoding.decimals import parse_floats
    from vyre.library.decoding.hexadecimal import decode_hex, encode_hex
    from vyre.library.decoding.integers import (
        decode_delta,
        decode_runs,
        decode_zigzag,
        encode_delta,
        encode_runs,
        encode_zigzag,
        pack_bits,
        unpack_bits,
    )
    from vyre.library.decoding.lz4 import decode_lz4
    from vyre.library.decoding.lz4_packing import encode_lz4
    from vyre.library.decoding.result import Decoded, Parsed, Unpacked
    from vyre.library.decoding.shortest import print_floats
    from vyre.library.decoding.utf8 import decode_utf8, encode_utf8, validate_utf8
    from vyre.library.decoding.varint import decode_varint, encode_varint
    from vyre.library.decoding.whole import parse_integers, print_integers

__all__ = [
    "Decoded", "Parsed", "Unpacked", "decode_base64", "decode_delta", "decode_hex", "decode_lz4",
    "decode_runs", "decode_utf8", "decode_varint", "decode_zigzag", "encode_base64", "encode_delta",
    "encode_hex", "encode_lz4", "encode_runs", "encode_utf8", "encode_varint", "encode_zigzag", "pack_bits",
    "parse_floats", "parse_integers", "print_floats", "print_integers", "unpack_bits", "validate_utf8",
]  # fmt: skip

if not TYPE_CHECKING:
    _HOMES = {
        "base64": "decode_base64 encode_base64",
        "decimals": "parse_floats",
        "hexadecimal": "decode_hex encode_hex",
        "integers": """
            decode_delta decode_runs decode_zigzag encode_delta encode_runs encode_zigzag pack_bits
            unpack_bits
        """,
        "lz4": "decode_lz4",
        "lz4_packing": "encode_lz4",
        "shortest": "print_floats",
        "result": "Decoded Parsed Unpacked",
        "utf8": "decode_utf8 encode_utf8 validate_utf8",
        "varint": "decode_varint encode_varint",
        "whole": "parse_integers print_integers",
    }
    _HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

    def __getattr__(name):  # noqa: ANN001, ANN202 - typing would cost an import
        from importlib import import_module

        if name not in _HOME_OF:
            raise AttributeError(f"module 'vyre.library.decoding' has no attribute {name!r}")
        home = import_module(f"vyre.library.decoding.{_HOME_OF[name]}")
        value = globals()[name] = getattr(home, name)
        return value
