"""`vyre.library`: work on bytes, text, graphs and tables, in kernels; the same bytes on every backend.

Each part is a package of functions on arrays, loaded when it is first used: `hashing`, `decoding`,
`matching`, `strings`, `graphs`, `tables`."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from vyre.library import decoding, graphs, hashing, matching, strings, tables

__all__ = ["decoding", "graphs", "hashing", "matching", "strings", "tables"]

if not TYPE_CHECKING:

    def __getattr__(name):  # noqa: ANN001, ANN202 - typing would cost an import
        from importlib import import_module

        if name in __all__:
            return import_module(f"vyre.library.{name}")
        raise AttributeError(f"module 'vyre.library' has no attribute {name!r}")
