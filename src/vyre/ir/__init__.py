"""What a program is: types, expressions, statements, programs, signatures. Depends on nothing.

Each name is loaded when it is first used: a call that the disk has ready needs the types alone."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferAccess, BufferDecl
    from vyre.ir.expr import (
        Approx,
        Atomic,
        BinOp,
        BufLen,
        Call,
        Cast,
        Convert,
        Expr,
        FMulAdd,
        FReduce,
        FReduceApprox,
        InvocationId,
        Lane,
        LitBool,
        Literal,
        LitI32,
        LitU32,
        Load,
        LocalId,
        MakeVec,
        Select,
        UnOp,
        Var,
        WorkgroupId,
        lift,
    )
    from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Node, Return, Store
    from vyre.ir.operators import ApproxOp, AtomicOp, BinaryOp, ReduceOp, ReduceOrder, RoundMode, UnaryOp
    from vyre.ir.program import Program
    from vyre.ir.signature import V1, V2, Convention, OpSignature
    from vyre.ir.types import DataType, Dim, TensorType

__all__ = [
    "V1",
    "V2",
    "Approx",
    "ApproxOp",
    "Assign",
    "Atomic",
    "AtomicOp",
    "Barrier",
    "BinOp",
    "BinaryOp",
    "Block",
    "Break",
    "BufLen",
    "BufferAccess",
    "BufferDecl",
    "Call",
    "Cast",
    "Convention",
    "Convert",
    "DataType",
    "Dim",
    "Expr",
    "FMulAdd",
    "FReduce",
    "FReduceApprox",
    "If",
    "InvocationId",
    "Lane",
    "Let",
    "LitBool",
    "LitI32",
    "LitU32",
    "Literal",
    "Load",
    "LocalId",
    "Loop",
    "MakeVec",
    "Node",
    "OpSignature",
    "Program",
    "ReduceOp",
    "ReduceOrder",
    "Return",
    "RoundMode",
    "Select",
    "Store",
    "TensorType",
    "UnOp",
    "UnaryOp",
    "Var",
    "WorkgroupId",
    "lift",
]

_HOMES = {
    "vyre.ir.buffers": "BufferAccess BufferDecl",
    "vyre.ir.expr": """
        Approx Atomic BinOp BufLen Call Cast Convert Expr FMulAdd FReduce FReduceApprox InvocationId
        Lane LitBool Literal LitI32 LitU32 Load LocalId MakeVec Select UnOp Var WorkgroupId lift
    """,
    "vyre.ir.node": "Assign Barrier Block Break If Let Loop Node Return Store",
    "vyre.ir.operators": "ApproxOp AtomicOp BinaryOp ReduceOp ReduceOrder RoundMode UnaryOp",
    "vyre.ir.program": "Program",
    "vyre.ir.signature": "V1 V2 Convention OpSignature",
    "vyre.ir.types": "DataType Dim TensorType",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # so that checkers know exactly the names above

    def __getattr__(name):  # noqa: ANN001, ANN202 - as in the package itself
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module 'vyre.ir' has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(home), name)
        return value
