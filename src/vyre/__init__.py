"""vyre: a GPU program, written once in Python, gives the same bytes on every backend.

The public names, each loaded when it is first used, so that importing the package costs almost nothing."""

TYPE_CHECKING = False  # `typing` alone would be most of the import time; checkers know the name

if TYPE_CHECKING:
    from vyre.backends.capture import capture
    from vyre.backends.chosen import use
    from vyre.backends.conversion import array
    from vyre.backends.device_buffer import DeviceBuffer, device_zeros, to_device
    from vyre.backends.dispatch import Compiled, compile_program, dispatch
    from vyre.backends.protocol import (
        Backend,
        BackendInfo,
        BackendLimits,
        DeviceMemory,
        Executable,
        LimitedExecutable,
        ResidentBackend,
        ResidentExecutable,
    )
    from vyre.certification import Certificate, CertifyPlan, CertifyProgress, RayCluster, certify
    from vyre.compose import Category, Op, Param, Registry, default_registry
    from vyre.errors import (
        BackendUnavailable,
        CheckError,
        DeviceError,
        DeviceLost,
        DeviceOutOfMemory,
        Diagnostic,
        DispatchError,
        InterpreterError,
        KernelError,
        KernelWarning,
        OpError,
        ParseError,
        PrintError,
        SourceLocation,
        SourceRejected,
        StepBudgetExceeded,
        StepLimitExceeded,
        UnsupportedByBackend,
        ValidationError,
        VyreError,
        WireError,
    )

    # isort: off
    # fmt: off
    from vyre.frontend.builtins import (
        abs as abs, acos, approx, asin, atan, atan2, atomic_add, atomic_and, atomic_compare_exchange,
        atomic_exchange, atomic_max, atomic_min, atomic_or, atomic_xor, barrier, bitcast, bounded, call, cast,
        cbrt, ceil, clz, convert, cos, cosh, ctz, debug_print, erf, exp, exp2, exp10, expm1, floor, fma,
        freduce, freduce_approx, from_lanes, grid, invocation_id, isinf, isnan, lane, local_id, log, log1p,
        log2, log10, max as max, min as min, mul_hi, num_invocations, num_workgroups, popcount, pow as pow,
        private, reverse_bits, round as round, select, shared, sin, sinh, sqrt, tan, tanh, trunc,
        workgroup_id,
    )
    # fmt: on
    # isort: on
    from vyre.frontend.kernel import Kernel, kernel
    from vyre.frontend.ops import op
    from vyre.frontend.types import (
        In,
        InOut,
        Out,
        Private,
        Shared,
        SharedAtomic,
        Uniform,
        bf16,
        boolean,
        f16,
        f32,
        f64,
        i8,
        i16,
        i32,
        i64,
        packed_bytes,
        u8,
        u16,
        u32,
        u64,
        u128,
        vec2,
        vec4,
    )
    from vyre.ir import (
        V1,
        V2,
        Approx,
        ApproxOp,
        Assign,
        Atomic,
        AtomicOp,
        Barrier,
        BinaryOp,
        BinOp,
        Block,
        Break,
        BufferAccess,
        BufferDecl,
        BufLen,
        Call,
        Cast,
        Convention,
        Convert,
        DataType,
        Dim,
        Expr,
        FMulAdd,
        FReduce,
        FReduceApprox,
        If,
        InvocationId,
        Lane,
        Let,
        LitBool,
        LitI32,
        LitU32,
        Load,
        LocalId,
        Loop,
        MakeVec,
        Node,
        OpSignature,
        Program,
        ReduceOp,
        ReduceOrder,
        Return,
        RoundMode,
        Select,
        Store,
        TensorType,
        UnaryOp,
        UnOp,
        Var,
        WorkgroupId,
    )
    from vyre.ir import (
        Literal as Literal,
    )

# Without what would shadow a builtin of Python, or the Literal that shapes are written with, after a star.
__all__ = [
    "V1", "V2", "Approx", "ApproxOp", "Assign", "Atomic", "AtomicOp", "Backend", "BackendInfo",
    "BackendLimits", "BackendUnavailable", "Barrier", "BinOp", "BinaryOp", "Block", "Break", "BufLen",
    "BufferAccess", "BufferDecl", "Call", "Cast", "Category", "Certificate", "CertifyPlan",
    "CertifyProgress", "CheckError", "Compiled", "Convention", "Convert", "DataType", "DeviceBuffer",
    "DeviceError", "DeviceLost", "DeviceMemory", "DeviceOutOfMemory", "Diagnostic", "Dim", "DispatchError",
    "Executable", "Expr", "FMulAdd", "FReduce", "FReduceApprox", "If", "In", "InOut", "InterpreterError",
    "InvocationId", "Kernel", "KernelError", "KernelWarning", "Lane", "Let", "LimitedExecutable", "LitBool",
    "LitI32", "LitU32", "Load", "LocalId", "Loop", "MakeVec", "Node", "Op", "OpError", "OpSignature", "Out",
    "Param", "ParseError", "PrintError", "Private", "Program", "RayCluster", "ReduceOp", "ReduceOrder",
    "Registry", "ResidentBackend", "ResidentExecutable", "Return", "RoundMode", "Select", "Shared",
    "SharedAtomic", "SourceLocation", "SourceRejected", "StepBudgetExceeded", "StepLimitExceeded", "Store",
    "TensorType", "UnOp", "UnaryOp", "Uniform", "UnsupportedByBackend", "ValidationError", "Var",
    "VyreError", "WireError", "WorkgroupId", "acos", "approx", "array", "asin", "atan", "atan2",
    "atomic_add", "atomic_and", "atomic_compare_exchange", "atomic_exchange", "atomic_max", "atomic_min",
    "atomic_or", "atomic_xor", "barrier", "bf16", "bitcast", "boolean", "bounded", "call", "capture", "cast",
    "cbrt", "ceil", "certify", "clz", "compile_program", "convert", "cos", "cosh", "ctz", "debug_print",
    "default_registry", "device_zeros", "dispatch", "erf", "exp", "exp2", "exp10", "expm1", "f16", "f32",
    "f64", "floor", "fma", "freduce", "freduce_approx", "from_lanes", "grid", "i8", "i16", "i32", "i64",
    "invocation_id", "isinf", "isnan", "kernel", "lane", "local_id", "log", "log1p", "log2", "log10",
    "mul_hi", "num_invocations", "num_workgroups", "op", "packed_bytes", "popcount", "private",
    "reverse_bits", "select", "shared", "sin", "sinh", "sqrt", "tan", "tanh", "to_device", "trunc", "u8",
    "u16", "u32", "u64", "u128", "use", "vec2", "vec4", "workgroup_id",
]  # fmt: skip

_HOMES = {
    "vyre.frontend.kernel": "Kernel kernel",
    "vyre.frontend.ops": "op",
    "vyre.frontend.types": """
        In InOut Out Private Shared SharedAtomic Uniform bf16 boolean f16 f32 f64 i16 i32 i64 i8 packed_bytes
        u128 u16 u32 u64 u8 vec2 vec4
    """,
    "vyre.frontend.builtins": """
        abs acos approx asin atan atan2 atomic_add atomic_and atomic_compare_exchange atomic_exchange
        atomic_max atomic_min atomic_or atomic_xor barrier bitcast bounded call cast cbrt ceil clz convert
        cos cosh ctz debug_print erf exp exp10 exp2 expm1 floor fma freduce freduce_approx from_lanes grid
        invocation_id isinf isnan lane local_id log log10 log1p log2 max min mul_hi num_invocations
        num_workgroups popcount pow private reverse_bits round select shared sin sinh sqrt tan tanh trunc
        workgroup_id
    """,
    "vyre.backends.capture": "capture",
    "vyre.backends.chosen": "use",
    "vyre.backends.conversion": "array",
    "vyre.backends.device_buffer": "DeviceBuffer device_zeros to_device",
    "vyre.backends.dispatch": "Compiled compile_program dispatch",
    "vyre.backends.protocol": """
        Backend BackendInfo BackendLimits DeviceMemory Executable LimitedExecutable ResidentBackend
        ResidentExecutable
    """,
    "vyre.certification": "Certificate CertifyPlan CertifyProgress RayCluster certify",
    "vyre.compose": "Category Op Param Registry default_registry",
    "vyre.errors": """
        BackendUnavailable CheckError DeviceError DeviceLost DeviceOutOfMemory Diagnostic DispatchError
        InterpreterError KernelError KernelWarning OpError ParseError PrintError SourceLocation
        SourceRejected StepBudgetExceeded StepLimitExceeded UnsupportedByBackend ValidationError VyreError
        WireError
    """,
    "vyre.ir": """
        Approx ApproxOp Assign Atomic AtomicOp Barrier BinOp BinaryOp Block Break BufLen BufferAccess
        BufferDecl Call Cast Convention Convert DataType Dim Expr FMulAdd FReduce FReduceApprox If
        InvocationId Lane Let LitBool LitI32 LitU32 Literal Load LocalId Loop MakeVec Node OpSignature Program
        ReduceOp ReduceOrder Return RoundMode Select Store TensorType UnOp UnaryOp V1 V2 Var WorkgroupId
    """,
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # so that checkers know exactly the names above

    def __getattr__(name):  # noqa: ANN001, ANN202 - typing would cost an import
        from importlib import import_module

        if name == "__version__":
            return import_module("importlib.metadata").version("vyre")
        if name in ("engines", "library", "nn", "onnx", "tensor"):
            return import_module(f"vyre.{name}")
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module 'vyre' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(home), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
