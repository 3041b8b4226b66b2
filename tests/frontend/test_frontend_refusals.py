"""What has no meaning in a kernel is refused at the user's own line and column, with what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.frontend.conftest import HEADER
from vyre.errors import KernelError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

BODIES = {
    "float modulo": (
        "x = §w[i] % 2.0",
        "`%` has no meaning on F32",
        "vyre.floor(x / y) * y",
    ),
    "number of text": ('x = §f32("inf")', "takes a number, and the Python str 'inf' is not one", "math.inf"),
    "list": ("x = §[0] * 4", "a list has no meaning", "vyre.private(u32, 4)"),
    "none": ("§x = None", "is not a value of a kernel", "x = 0.0"),
    "membership": ("if §i in (1, 2):\n        pass", "`in` has no meaning", "x == 1 or x == 2"),
    "method of a buffer": ("x = §out.sum()", "no attribute 'sum'", "`for` loop"),
    "a method": ("pass\n@vyre.kernel\ndef m(§self, out: Out[u32]):\n    pass", "'self'", "@staticmethod"),
    "divmod": ("x = §divmod(i, 2)", "divmod cannot be called", "x // y and x % y"),
    "unsigned magnitude": ("x = §abs(i - 3)", "has no sign", "max(a, b) - min(a, b)"),
    "while": ("§while i < 3:\n        i += 1", "`while`", "while vyre.bounded(i < 3, 1000):"),
    "bounded elsewhere": ("x = §vyre.bounded(i < 3, 9)", "condition of a loop", "while vyre.bounded"),
    "bounded once": ("while §vyre.bounded(i < 3):\n        pass", "two arguments", "turns"),
    "try": ("§try:\n        out[i] = 1\n    finally:\n        pass", "`try`", "nothing in a kernel raises"),
    "raise": ("§raise ValueError", "`raise`", "error code"),
    "assert": ("§assert i < 3", "`assert`", "flag into a buffer"),
    "with": ("§with np.errstate():\n        pass", "`with`", "remove it"),
    "global": ("§global N\n    N = 1", "`global`", "parameters"),
    "import": ("§import os", "`import`", "above the function"),
    "decorated nested def": ("@math.sqrt\n    §def inner() -> None:\n        pass", "decorators", "remove"),
    "class": ("§class A:\n        pass", "`class`", "buffers"),
    "del": ("§del i", "`del`", "ends with its block"),
    "match": ("§match i:\n        case 1:\n            pass", "`match`", "`elif`"),
    "return value": ("§return i", "returns no value", "out[i] = value"),
    "lambda": ("out[i] = (§lambda: 1)()", "`lambda`", "annotated parameters"),
    "list comprehension": ("x = §[k for k in range(3)]", "comprehension", "`for` loop"),
    "generator": ("x = sum§(k for k in range(3))", "generator", "`for` loop"),
    "yield": ("§yield i", "`yield`", "out[i] = value"),
    "f-string": ('x = §f"{i}"', "f-string", "vyre.debug_print("),
    "string": ('x = §"abc" + i', "a str has no meaning", "numbers"),
    "dict": ("x = §{1: 2}", "a dict", "buffer"),
    "tuple": ("§x = (1, 2)", "a tuple", "separate variables"),
    "element of a dict": (
        "pass\nNAMED = {1: 2}\n@vyre.kernel\ndef m(out: Out[u32]):\n    out[0] = §NAMED[1]",
        "dict cannot be indexed",
        "in a tuple",
    ),
    "number past a float": ("x = §w[i] * 1e39", "1e+39 is beyond the largest F32", "math.inf"),
    "digits of round": ("x = §round(w[i], 2)", "to a whole number", "vyre.round(x * 100.0) / 100.0"),
    "count of names": (
        'pass\n@vyre.kernel\ndef m(a: §In[f32, "m", 3]):\n    pass',
        "count",
        'In[f32, Literal["m", 3]]',
    ),
    "two results": (
        "pass\ndef two(x: u32) -> u32:\n    return §x, x\n"
        "@vyre.kernel\ndef m(out: Out[u32]):\n    out[0] = two(u32(1))",
        "a tuple of 2 is not a value",
        "vyre.private",
    ),
    "walrus": ("out[i] = (§k := 3)", "`:=`", "line of its own"),
    "slice": ("x = a[§1:3]", "a slice", "one element"),
    "two indices": ("x = §a[i, i]", "1 dimension", "y * width + x"),
    "stored two indices": ("§out[i, i] = 1", "1 dimension", "y * width + x"),
    "unknown name": ("out[i] = §missing", "'missing' is not known", "import it above"),
    "unknown vyre name": ("out[i] = §vyre.popcnt(i)", "has no 'popcnt'", "did you mean popcount?"),
    "far from any vyre name": ("out[i] = §vyre.zzzzz(i)", "has no 'zzzzz'", "spelling"),
    "buffer attribute": ("out[i] = §a.dtype", "no attribute 'dtype'", "a[i]"),
    "value attribute": ("out[i] = §i.real", "`.real` has no meaning", "use operators"),
    "buffer as value": ("out[i] = §a + 1", "not a value", "a[i]"),
    "buffer as name": ("§x = a", "cannot be given a name", "directly"),
    "module as value": ("out[i] = §math + 1", "not a value", "numbers"),
    "calling a value": ("out[i] = §i(3)", "cannot be called", "a[i]"),
    "calling print": ("§print(i)", "cannot be called", "vyre.debug_print"),
    "int()": ("out[i] = §int(i)", "cannot be called", "vyre.convert(x, u32, mode="),
    "range outside for": ("x = §range(3)", "cannot be called", "`for` statement"),
    "math on values": ("out[i] = §math.gcd(i, 2)", "constants only", "vyre functions"),
    "argument count": ("out[i] = §vyre.popcount()", "missing a required argument", "vyre.popcount("),
    "unknown keyword": ("out[i] = §vyre.clz(i, width=3)", "unexpected keyword", "vyre.clz("),
    "starred argument": ("out[i] = vyre.popcount(§*a)", "`*`", "every argument out"),
    "double star": ("out[i] = §vyre.popcount(**a)", "`**`", "every argument out"),
    "unused value": ("§a[i]", "not used", "remove the line"),
    "unused call": ("§vyre.popcount(i)", "not used", "remove the line"),
    "two targets": ("§x = y, z = 1, 2", "one assignment", "per line"),
    "two names of memory": ("§x = y = vyre.shared(u32, 4)", "has two names", "per line"),
    "loop over list": ("for k in §a:\n        pass", "range() only", "range(n)"),
    "loop else": ("§for k in range(3):\n        pass\n    else:\n        pass", "`else` of a loop", "after"),
    "step variable": ("for k in range(0, 9, §i):\n        pass", "constant other than 0", "start + i * step"),
    "float bound": ("for k in range(§w[0]):\n        pass", "F32", "write vyre.convert(w[0], u32)"),
    "loop variable assigned": ("for k in range(3):\n        §k = 1", "loop variable 'k'", "another name"),
    "loop variable taken": ("§for i in range(3):\n        pass", "another value", "another name"),
    "loop variable gone": (
        "for k in range(3):\n        pass\n    out[i] = §k",
        "gone after it",
        "before the `for`",
    ),
    "branch variable gone": (
        "if i:\n        x = 1\n    out[i] = §x",
        "inside the if at line 11",
        "before the `if`",
    ),
    "else does not see then": (
        "if i:\n        x = 1\n    else:\n        out[i] = §x",
        "gone",
        "before the `if`",
    ),
    "used before assignment": ("out[i] = §x\n    x = 1", "before it is assigned", "above this line"),
    "shadowed global": ("out[i] = §N\n    N = 1", "before it is assigned", "above this line"),
    "buffer assigned": ("§a = 1", "buffer 'a' cannot", "a[i] = value"),
    "reserved name": ("§__x = 1", "reserved", "another name"),
    "foreign letters": ("§größe = 1", "cannot be a name", "letters"),
    "store to In": ("§a[i] = 1", "ReadOnly", "InOut"),
    "store to lane": ("§i[0] = 1", "cannot be assigned", "buffer"),
    "integer division": ("x = §i / 2", "`/` has no meaning on U32", "`//`"),
    "float floor division": ("x = §w[i] // 2.0", "`//` has no meaning on F32", "vyre.floor"),
    "float bits": ("x = §w[i] & 1.0", "`&` has no meaning on F32", "bits"),
    "float shift": ("x = §w[i] << 1", "`<<` has no meaning on F32", "bits"),
    "integer power": ("x = §i ** 2", "`**` has no meaning on U32", "write i * i."),
    "integer power of a value": ("x = §i ** i", "`**` has no meaning on U32", "multiply in a loop"),
    "matrix product": ("x = §i @ i", "`@`", "loop"),
    "mixed types": ("x = §i + w[i]", "U32 and F32", "write vyre.convert(i, f32)"),
    "mixed signs": ("x = §i + s[i]", "U32 and I32", "write u32(s[i])"),
    "float literal on integer": ("x = §i + 1.5", "1.5 is a float", "integer"),
    "literal out of range": ("x = §i + 4294967296", "does not fit into U32", "from 0 to 4294967295"),
    "negative literal": ("x = §i + -1", "does not fit into U32", "0xffffffff"),
    "sign of a sentinel": ("x = -1\n    §x = i", "'x' is I32 and got U32", "write x = u32(4294967295) where"),
    "complement of a literal": ("x = i & §~3", "no width", "~u32(3)"),
    "huge constant": ("x = §1 << 1000000", "too large", "fits its type"),
    "constant division by zero": ("x = §1 // 0", "cannot be computed", "number"),
    "assignment of another type": ("x = 1\n    §x = w[i]", "'x' is U32 and got F32", "x = 1.0 where"),
    "store of another type": ("§out[i] = w[i]", "element of 'out' is U32", "write vyre.convert(w[i], u32)"),
    "float index": ("x = §a[w[i]]", "an index is U32", "write vyre.convert(w[i], u32)"),
    "negative index": ("x = §a[-1]", "counts from 0", "a[len(a) - 1]"),
    "float condition": ("§if w[i]:\n        pass", "F32 is not a condition", "w[i] != 0.0"),
    "signed condition": ("x = §1 if s[i] else 2", "I32 is not a condition", "s[i] != 0"),
    "identity": ("x = §i is n", "`is` has no meaning", "=="),
    "atomic on In": ("§vyre.atomic_add(a, i, 1)", "writable", "Out, InOut"),
    "atomic on floats": ("§vyre.atomic_add(fs, i, 1)", "holds F32", "vyre.engines.reduce"),
    "atomic on element": ("§vyre.atomic_add(out[i], i, 1)", "`buffer`", "not an element"),
    "chained atomic": ("x = §0 < vyre.atomic_add(out, 0, 1) < 5", "run twice", "variable first"),
    "wrong mode": ('x = §vyre.convert(w[i], i32, mode="up")', "`mode`", "'floor'"),
    "int to float mode": ('x = §vyre.convert(i, f32, mode="floor")', "nearest only", "nearest"),
    "no cast": ("x = §vyre.cast(s[i], f32)", "does not go from I32 to F32", "write vyre.convert(s[i], f32)"),
    "bitcast that changes bits": (
        "x = §vyre.bitcast(w[i], f16)",
        "common bits",
        "write vyre.cast(w[i], f16)",
    ),
    "cast to no type": ("x = §vyre.cast(i, 3)", "`target`", "name a type"),
    "float of a buffer": ("x = §f32(a)", "takes a number", "pass a number: f32(1)"),
    "axis": ("x = §vyre.invocation_id(3)", "`axis`", "from 0 to 2"),
    "axis variable": ("x = §vyre.invocation_id(i)", "`axis`", "constant"),
    "sine of integer": ("x = §vyre.sin(i)", "no meaning on U32", "write vyre.sin(vyre.convert(i, f32))"),
    "sine of f64": ("x = §vyre.sin(d[i])", "no meaning on F64", "write vyre.sin(vyre.cast(d[i], f32))"),
    "lane out of range": ("x = §vec2(1, 2)[2]", "no lane 2", "0 to 1"),
    "lane of integer": ("x = §i[0]", "has no lanes", "vec2"),
    "lane variable": ("x = §vec2(1, 2)[i]", "constant", "x[0]"),
    "lanes count": ("x = §vec4(1, 2)", "takes 4 lanes and got 2", "that many"),
    "vector sum": ("x = §vec2(1, 2) + vec2(1, 2)", "no meaning on Vec2U32", "lanes"),
    "wide true division": ("x = §u64(1) / u64(2)", "no meaning on U64", "`//`"),
    "shared in block": ("if i:\n        §t = vyre.shared(u32, 4)", "inside a block", "top level"),
    "shared without size": ("t = §vyre.shared(u32, 0)", "`count`", "constant from 1"),
    "barrier as value": ("x = §vyre.barrier() + 1", "not a value", "numbers"),
    "reduce integers": ('x = §vyre.freduce("add", a, 0, 3)', "folds floats", "`for` loop"),
    "unknown op id": ('x = §vyre.call("integer.mim", i, i)', "no op is registered", "'integer.min'"),
    "op argument count": ('x = §vyre.call("integer.min", i)', "is missing the argument 'b'", "a: u32"),
    "op argument type": ('x = §vyre.call("integer.min", i, w[i])', "is U32 and got F32", "vyre.convert"),
    "unannotated call": ("x = §len(i)", "len() takes one buffer", "len(a)"),
    "annotation without value": ("§x: u32", "needs a name and a value", "x: u32 = 0"),
    "annotation of no type": ("x: §int = 0", "not a value type", "u32"),
}


def kernel_text(body: str) -> str:
    return (
        "N = 7\n"
        "@vyre.kernel\n"
        "def k(a: In[u32], out: Out[u32], w: In[f32], s: In[i32], d: In[f64], fs: Out[f32], n: u32):\n"
        "    i = vyre.invocation_id(0)\n"
        f"    {body}\n"
    )


@pytest.mark.parametrize("case", BODIES)
def test_refused_body(case: str, refused: Callable[[str], KernelError]) -> None:
    body, message, fix = BODIES[case]
    error = refused(kernel_text(body))
    assert message in error.message
    assert fix in error.fix


SIGNATURES = {
    "missing annotation": ("def k(§a, out: Out[u32]):\n    pass", "'a' has no annotation", "In[u32]"),
    "python int": ("def k(n: §int, out: Out[u32]):\n    pass", "not a type that a parameter", "u32 or i32"),
    "array type": (
        "def k(a: §np.ndarray, out: Out[u32]):\n    pass",
        "not a type that a parameter",
        "In[u32]",
    ),
    "element type": ("def k(out: §Out[int]):\n    pass", "not an element type", "u32"),
    "count": ("def k(out: §Out[u32, Literal[-1]]):\n    pass", "not an element count", "Literal[64]"),
    "shared size": ("def k(t: §Shared[u32], out: Out[u32]):\n    pass", "no size", "vyre.shared"),
    "star": ("def k(*§arrays, out: Out[u32]):\n    pass", "no fixed place", "plain parameter"),
    "keyword only": ("def k(*, §out: Out[u32]):\n    pass", "no fixed place", "plain parameter"),
    "no output": ("§def k(a: In[u32]):\n    pass", "no output", "Out or InOut"),
    "return annotation": ("def k(out: Out[u32]) -> §u32:\n    pass", "returns no value", "-> None"),
    "reserved parameter": ("def k(§__a: In[u32], out: Out[u32]):\n    pass", "reserved", "another name"),
}


@pytest.mark.parametrize("case", SIGNATURES)
def test_refused_signature(case: str, refused: Callable[[str], KernelError]) -> None:
    text, message, fix = SIGNATURES[case]
    error = refused(f"@vyre.kernel\n{text}\n")
    assert message in error.message
    assert fix in error.fix


USE = "@vyre.kernel\ndef k(out: Out[u32]):\n    out[0] = "

HELPERS = {
    "recursion": ("def f(x: u32) -> u32:\n    return §f(x)\n" + USE + "f(1)\n", "f → f", "`for` loop"),
    "mutual recursion": (
        "def f(x: u32) -> u32:\n    return g(x)\ndef g(x: u32) -> u32:\n    return §f(x)\n" + USE + "f(1)\n",
        "f → g → f",
        "`for` loop",
    ),
    "missing return annotation": (
        "§def f(x: u32):\n    return x\n" + USE + "f(1)\n",
        "return annotation",
        "-> u32",
    ),
    "missing annotation": (
        "def f(§x) -> u32:\n    return x\n" + USE + "f(1)\n",
        "'x' has no annotation",
        "u32",
    ),
    "no return": (
        "def f(x: u32) -> u32:\n    §y = x\n" + USE + "f(1)\n",
        "does not end in `return`",
        "return value",
    ),
    "result type": (
        "def f(x: u32) -> f32:\n    return §x\n" + USE + "1\nvyre.op(f)\n",
        "is F32 and got U32",
        "convert",
    ),
    "buffer parameter": (
        "def f(§x: In[u32]) -> u32:\n    return 1\n" + USE + "f(1)\n",
        "the call passes none",
        "x: u32",
    ),
    "invocation id": (
        "def f(x: u32) -> u32:\n    return §vyre.invocation_id(0)\n" + USE + "f(1)\n",
        "no meaning in an op",
        "pass the value",
    ),
    "barrier": (
        "def f(x: u32) -> u32:\n    §vyre.barrier()\n    return x\n" + USE + "f(1)\n",
        "no meaning in an op",
        "pass the value",
    ),
    "argument count": (
        "def f(x: u32) -> u32:\n    return x\n" + USE + "§f(1, 2)\n",
        "takes 1 argument and got 2",
        "x: u32",
    ),
    "lambda helper": ("f = lambda x: x\n" + USE + "§f(1)\n", "a lambda has no annotations", "`def`"),
    "kernel in kernel": (
        "@vyre.kernel\ndef f(o: Out[u32]):\n    o[0] = 1\n" + USE + "§f(1)\n",
        "a kernel cannot call another",
        "plain function",
    ),
}


@pytest.mark.parametrize("case", HELPERS)
def test_refused_helper(case: str, refused: Callable[[str], KernelError]) -> None:
    text, message, fix = HELPERS[case]
    error = refused(text)
    assert message in error.message
    assert fix in error.fix


MEMORY = {
    "V048": "    x = vyre.private(u32, 2000)\n    §y = vyre.private(u32, 2000)\n    out[i] = x[i] + y[i]",
    "V035": "    §x = vyre.shared(u32, (8192, 8192))\n    out[i] = x[i, i]",
    "V050": "    §out[i] = TABLE[i]",
}


@pytest.mark.parametrize("code", MEMORY)
def test_memory_past_a_limit_is_refused_at_its_line(code: str, load: Callable[[str], dict[str, Any]]) -> None:
    before, _, after = (
        f"TABLE = tuple(range(20_000))\n@vyre.kernel\ndef k(out: Out[u32]):\n    i = vyre.invocation_id(0)\n"
        f"{MEMORY[code]}\n"
    ).partition("§")
    with pytest.raises(ValidationError, match=code) as caught:
        load(before + after)
    place = caught.value.diagnostics[0].location
    assert place is not None
    assert place.line == (HEADER + before).count("\n") + 1
    assert place.text.strip() in str(caught.value)


def test_columns_count_characters_not_bytes(refused: Callable[[str], KernelError]) -> None:
    refused(kernel_text('"äöü"; x = §missing'))


def test_methods_and_indented_functions_keep_their_columns(refused: Callable[[str], KernelError]) -> None:
    text = "if True:\n  if True:\n    @vyre.kernel\n    def k(out: Out[u32]):\n        out[0] = §nope\n"
    refused(text)


def test_a_long_chain_of_elif_is_refused_before_the_stack_ends(load: Callable[[str], dict[str, Any]]) -> None:
    branches = "".join(f"    elif n == {i}:\n        out[0] = {i}\n" for i in range(200))
    text = "@vyre.kernel\ndef k(out: Out[u32], n: u32):\n    if n == 999:\n        pass\n" + branches
    with pytest.raises(KernelError, match="nested more than 64"):
        load(text)


def test_source_that_cannot_be_read_back_is_a_clear_error() -> None:
    names: dict[str, Any] = {}
    with pytest.raises(KernelError, match="source of k cannot be read"):
        exec("import vyre\n@vyre.kernel\ndef k(out):\n    pass\n", names)


@pytest.mark.parametrize("size", ["0", "(8, 0)", "(1, 2, 3, 4)", "2.0", "()"])
def test_refused_workgroup_size(size: str, load: Callable[[str], dict[str, Any]]) -> None:
    with pytest.raises(KernelError, match="not a workgroup size") as caught:
        load(f"@vyre.kernel(workgroup_size={size})\ndef k(out: Out[u32]):\n    pass\n")
    assert caught.value.location.line == 7
