"""Every mistake a person is likely to make: where it points, what it expected, what to do."""

from __future__ import annotations

import pytest

from vyre.errors import ParseError, VyreError
from vyre.ir import node as n
from vyre.text import parse_expr, parse_op, parse_program

HEAD = "vyre 1\nworkgroup 1\n"


def body(text: str) -> str:
    """A program whose third line is `entry {` and whose fourth is `text`."""
    return f"{HEAD}entry {{\n{text}\n}}"


EXPRESSIONS = [
    ("", 1, "expected an expression, found the end of the text", "write a literal"),
    ("a +", 4, "expected an expression, found the end of the text", "write a literal"),
    ("a + * b", 5, "expected an expression, found `*`", "write a literal"),
    ("a b", 3, "expected an operator or the end of the expression, found `b`", "join it"),
    ("a = b", 3, "expected an operator or the end of the expression, found `=`", "remove"),
    ("(a + b", 7, "expected `)` in (expression), begun at 1:1, found the end", "`)`"),
    ("a)", 2, "found `)`", "remove"),
    ("a[1", 4, "expected `]` in buffer[index], begun at 1:1", "`]`"),
    ("a[1)", 4, "expected `]` in buffer[index]", "buffer[index]"),
    ("a < b < c", 7, "comparisons do not chain", "a < b && b < c"),
    ("a == b != c", 8, "comparisons do not chain", "parentheses"),
    ("1 < 2 == 3 + 4", 7, "comparisons do not chain", "parentheses"),
    ("4294967296", 1, "4294967296 is not a U32 literal", "u64"),
    ("0x1_0000_0000", 1, "is not a U32 literal", "u64"),
    ("2147483648i", 1, "`2147483648i` is outside I32", "-2147483648i"),
    ("-2147483649i", 2, "`2147483649i` is outside I32", "-2147483648i"),
    ("5u", 1, "malformed number 5u", "5 for U32"),
    ("0x", 1, "malformed number 0x", "0x1F"),
    ("0x_", 1, "without digits", "digits after 0x"),
    ("1.5", 1, "does not say its float type", "f32(1.5)"),
    ("1_0.5", 4, "a number followed by a point", "f32(1.5)"),
    ("f32(1)", 5, "`1` may mean a value or bits", "f32(1.5) for the value or f32(0x"),
    ("f32(-0x1)", 5, "may mean a value or bits", "f32(0x"),
    ("f32(x)", 5, "expected a literal of F32, found `x`", "f32(1.5)"),
    ("f32(0x100000000)", 5, "is not a literal of F32", "f32("),
    ("f16(0x10000)", 5, "is not a literal of F16", "f16("),
    ("u64(-1)", 5, "expected a literal of U64, found `-`", "u64(5)"),
    ("u64(1.5)", 5, "expected a literal of U64, found `1.5`", "u64(5)"),
    ("u64(0x10000000000000000)", 5, "is not a literal of U64", "u64(5)"),
    ("u64(5, 6)", 6, "expected `)` after the literal, found `,`", "u64(5)"),
    ("a.x", 3, "expected a lane from 0 to 255, found `x`", "x.1"),
    ("a.256", 3, "256 is not a lane from 0 to 255", "x.1"),
    ("invocation", 11, "expected `.` after `invocation`", "invocation.x"),
    ("invocation.w", 12, "expected an axis", "invocation.z"),
    ("local.256", 7, "256 is not an axis", "local.x"),
    ("popcout(x)", 1, "there is no function `popcout`", "did you mean popcount?"),
    ("mix(a, b)", 1, "there is no function `mix`", "call mix("),
    ("popcount(a, b)", 11, "expected `)` in popcount(x), begun at 1:1, found `,`", "popcount(x)"),
    ("fadd(a)", 7, "expected `,` in fadd(a, b)", "write fadd(a, b)"),
    ("fadd(a b)", 8, "expected `,` in fadd(a, b), begun at 1:1, found `b`", "operator or `,`"),
    ("select(a, b)", 12, "expected `,` in select(condition, a, b)", "select(condition, a, b)"),
    ("fma(a, b, c, d)", 12, "expected `)` in fma(a, b, c)", "fma(a, b, c)"),
    ("popcount()", 10, "expected an expression, found `)`", "write a literal"),
    ("len(5)", 5, "expected the name of a buffer, found `5`", "a name such as"),
    ("len(a", 6, "expected `)` after the buffer", "len(buffer)"),
    ("atomic_add(5, 1)", 12, "expected the name of a buffer", "a name such as"),
    ("atomic_add(b, 1)", 13, "expected `[` after the buffer", "atomic_add(buffer[index], value)"),
    ("atomic_add(b[0])", 16, "expected `,` in atomic_add(", "atomic_add(buffer[index], value)"),
    ("atomic_add(b[0], 1, 2)", 19, "expected `)` in atomic_add(", "atomic_add(buffer[index], value)"),
    ("atomic_compare_exchange(b[0], 1)", 32, "expected `,` in atomic_compare", "value, expected)"),
    ("cast(x)", 5, "expected `<` after `cast`", "cast<I32>(x)"),
    ("cast<Int>(x)", 6, "expected a type, found `Int`", "use one of U32, I32"),
    ("cast<u32>(x)", 6, "expected a type, found `u32`", "did you mean U32?"),
    ("cast<I32(x)", 9, "expected `>` to close the `<`", "cast<I32>(x)"),
    ("cast<I32> x", 11, "expected `(` after `>`", "cast<I32>(x)"),
    ("convert<I32>(x)", 12, "expected `,` after the type", "convert<I32, Nearest>(x)"),
    ("convert<I32, Up>(x)", 14, "expected a rounding mode, found `Up`", "Nearest, Truncate, Floor, Ceil"),
    ("make<Vec2U32>(a", 16, "expected `,` or `)` in make<Vec2U32>(a, b)", "`,` or `)`"),
    ("make<Vec2U32>(a,)", 17, "expected an expression, found `)`", "write a literal"),
    ("approx<FSin, 4>(x)", 8, "expected an approximate function", "did you mean FSinApprox?"),
    ("approx<FSinApprox>(x)", 18, "expected `,` before the tolerance", "approx<FSinApprox, 4>(x)"),
    ("approx<FSinApprox, 0>(x)", 20, "0 is not a tolerance", "approx<FSinApprox, 4>(x)"),
    ("freduce_approx<Add, 4294967296>(b, 0..1)", 21, "is not a tolerance", "freduce_approx<Add, 4>"),
    ("freduce_strict<Sub>(b, 0..1)", 16, "expected a reduction, found `Sub`", "Add, Mul, Min, Max"),
    ("freduce_tree<Add>(b)", 20, "expected `,` after the buffer", "freduce_tree<Add>(buffer, start..stop)"),
    ("freduce_tree<Add>(b, 0)", 23, "expected `..` in freduce_tree", "start..stop"),
    ("call", 5, "expected an op id, found the end", "primitive.math.add"),
    ("call acme.", 11, "expected an op id, found the end", "primitive.math.add"),
    ("call acme.mix", 14, "expected `(` after the op id", "call acme.mix(a, b)"),
    ("call acme.mix@x(a)", 15, "expected a version, found `x`", "acme.mix@2"),
    ("let", 1, "expected an expression, found `let`", "only between backticks"),
    ("a + größe", 7, "unexpected character 'ö'", "between backticks"),
    ("a # b", 3, "unexpected character '#'", "remove it"),
    ("a /* b", 3, "this comment is never closed", "*/"),
    ("`a", 1, "has no partner on its line", "close it"),
    ("`a\nb`", 1, "has no partner on its line", "\\n"),
    ("`a\\q`", 3, "unknown escape `\\q`", "\\u{"),
    ("`\\u{110000}`", 2, "unknown escape", "\\u{"),
    ("`\\u{}`", 2, "unknown escape", "\\u{"),
    ("f32(1.0e99999)", 5, "too long to round", "hexadecimal"),
    ('"text"', 1, "expected an expression, found a string", "write a literal"),
]

PROGRAMS = [
    ("", 1, 1, "expected `vyre 1`, found the end of the text", "the first line"),
    ("entry {}", 1, 1, "expected `vyre 1`, found `entry`", "the first line"),
    ("vyre", 1, 5, "expected the version of the text form", "vyre 1"),
    ("vyre 2\n", 1, 6, "version 2 of the text form is unknown", "a newer vyre"),
    ("vyre 1\nentry {}", 2, 1, "expected `workgroup`, found `entry`", "workgroup 64 1 1"),
    ("vyre 1\nworkgroup\nentry {}", 3, 1, "expected a workgroup size", "workgroup 64 1 1"),
    (f"{HEAD}2 3 4 entry {{}}", 3, 5, "expected `buffer` or `entry`, found `4`", "buffer a: readonly"),
    (f"{HEAD}let x = 1", 3, 1, "expected `buffer` or `entry`, found `let`", "entry {"),
    (f"{HEAD}buffer if: readonly U32", 3, 8, "`if` is a keyword", "write `if` with the backticks"),
    (f"{HEAD}buffer 5: readonly U32", 3, 8, "expected the name of the buffer, found `5`", "backticks"),
    (f"{HEAD}buffer a readonly U32", 3, 10, "expected `:` after the name", "buffer a: readonly U32 @0"),
    (f"{HEAD}buffer a: read U32", 3, 11, "expected the access of the buffer", "readonly, readwrite, uniform"),
    (f"{HEAD}buffer a: readonly [4]", 3, 20, "expected a type, found `[`", "U32"),
    (f"{HEAD}buffer a: readonly U32[n]", 3, 24, "expected the number of elements", "U32[64]"),
    (f"{HEAD}buffer a: readonly U32[4", 3, 25, "expected `]` after the number", "U32[64]"),
    (f"{HEAD}buffer a: readonly U32 @", 3, 25, "expected a binding", "@0"),
    (f"{HEAD}entry", 3, 6, "expected `{` after `entry`", "entry { … }"),
    (f"{HEAD}entry {{", 3, 8, "the block begun at 3:7 is not closed", "close it with }"),
    (f"{HEAD}entry {{ if x {{\nreturn }}", 4, 9, "the block begun at 3:7 is not closed", "close it with }"),
    (f"{HEAD}entry {{ }} }}", 3, 11, "expected the end of the program, found `}`", "remove"),
    (f"{HEAD}entry {{}}\nbuffer a: readonly U32", 4, 1, "expected the end of the program", "remove"),
    (body("x = 1"), 4, 3, "expected `:=` after `x`, found `=`", "let x = value"),
    (body("let x := 1"), 4, 7, "expected `=` after the name", "let x = value"),
    (body("let 5 = 1"), 4, 5, "expected the name of the variable", "a name such as"),
    (body("let for = 1"), 4, 5, "`for` is a keyword", "`for` with the backticks"),
    (body("let x = a b"), 4, 11, "expected an operator or the end of the statement", "put an operator"),
    (body("let x = 1 2"), 4, 11, "expected a statement, found `2`", "let x = v"),
    (body("a[0] := 1"), 4, 6, "expected `=` after buffer[index]", "buffer[index] = value"),
    (body("a[0 = 1"), 4, 5, "expected `]` after the index", "buffer[index] = value"),
    (body("x"), 4, 1, "expected a statement, found `x`", "bind it with let"),
    (body("popcount(x)"), 4, 1, "expected a statement, found `popcount`", "bind it with let"),
    (body("call a.b(x)"), 4, 1, "expected a statement, found `call`", "bind it with let"),
    (body("while x { }"), 4, 1, "expected a statement, found `while`", "if, for, break, block"),
    (body("x += 1"), 4, 1, "expected a statement, found `x`", "x := v"),
    (body("5"), 4, 1, "expected a statement, found `5`", "let x = v"),
    (body("{ return }"), 4, 1, "expected a statement, found `{`", "block"),
    (body("block return"), 4, 7, "or `{` after `block`", "open the block"),
    (body("if x return"), 4, 6, "expected an operator or `{` after the condition", "open the block with {"),
    (body("if x = 1 { }"), 4, 6, "expected an operator or `{` after the condition", "compare with =="),
    (body("if { }"), 4, 4, "expected an expression, found `{`", "write a literal"),
    (body("else { }"), 4, 1, "`else` without `if`", "behind the }"),
    (body("if x { } else return"), 4, 15, "or `{` after `else`, found `return`", "open the block"),
    (body("if x { } else { } else { }"), 4, 19, "`else` without `if`", "behind the }"),
    (body("for 1 in 0..1 { }"), 4, 5, "expected the name of the loop variable", "a name such as"),
    (body("for i = 0..1 { }"), 4, 7, "expected `in` after the loop variable", "for i in 0..n"),
    (body("for i in 0 { }"), 4, 12, "expected `..` between the bounds", "for i in 0..n"),
    (body("for i in 0..1 return"), 4, 15, "after the bounds", "open the block"),
    (body("return 5"), 4, 8, "expected a statement, found `5`", "let x = v"),
    (body("=> 5"), 4, 1, "a result is not allowed here", "last line of an op"),
    (body("\n\n  let y = 4294967296"), 6, 11, "is not a U32 literal", "u64"),
]

OPS = [
    ("", 1, "expected `op`, found the end", "op acme.mix(a: U32) -> U32"),
    ("op mix(a: U32) -> U32 { }", 4, "op id 'mix' is malformed", "lower-case names joined by dots"),
    ("op a.b@1() -> U32 { }", 4, "op id 'a.b@1' is malformed", "@2"),
    ("op a.b -> U32 { }", 8, "expected `(` after the op id", "(a: U32, b: F32)"),
    ("op a.b(a) -> U32 { }", 9, "expected `:` after the name", "(a: U32, b: F32)"),
    ("op a.b(a: U32 b: U32) -> U32 { }", 15, "expected `)` after the parameters", "(a: U32, b: F32)"),
    ("op a.b(a: Word) -> U32 { }", 11, "expected a type, found `Word`", "use one of U32"),
    ("op a.b() { }", 10, "expected `->` after the parameters", "-> U32"),
    ("op a.b() -> U32 => 1", 17, "expected `{` after the result type", "{ => a + 1 }"),
    ("op a.b() -> U32 { category B }", 28, "expected a category, found `B`", "A, C"),
    ("op a.b() -> U32 { => 1 return }", 24, "expected `}` after the result", "the last line"),
    ("op a.b() -> U32 { block { => 1 } }", 27, "a result is not allowed here", "the last line"),
    ("op a.b() -> U32 { => 1 } 5", 26, "expected the end of the op", "remove"),
]


def assert_points(error: ParseError, line: int, column: int, message: str, fix: str) -> None:
    assert message in error.message
    assert fix in error.fix
    assert (error.line, error.column) == (line, column)
    assert str(error).startswith(f"<text>:{line}:{column}: ")
    assert "Fix: " in str(error)


@pytest.mark.parametrize(("text", "column", "message", "fix"), EXPRESSIONS)
def test_expression_mistakes(text: str, column: int, message: str, fix: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_expr(text)
    assert_points(caught.value, 1, column, message, fix)


@pytest.mark.parametrize(("text", "line", "column", "message", "fix"), PROGRAMS)
def test_program_mistakes(text: str, line: int, column: int, message: str, fix: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_program(text)
    assert_points(caught.value, line, column, message, fix)


@pytest.mark.parametrize(("text", "column", "message", "fix"), OPS)
def test_op_mistakes(text: str, column: int, message: str, fix: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_op(text)
    assert_points(caught.value, 1, column, message, fix)


def test_the_file_is_named() -> None:
    with pytest.raises(ParseError, match=r"^kernel\.vyre:2:1: "):
        parse_program("vyre 1\nentry", file="kernel.vyre")
    with pytest.raises(ParseError, match=r"^mix\.op:1:1: "):
        parse_op("entry", file="mix.op")


def test_columns_count_characters_and_lines_end_at_newlines_only() -> None:
    with pytest.raises(ParseError) as caught:
        parse_program("vyre 1\r\nworkgroup 1\r\nentry {\r\n  let `😀` = §\r\n}")
    assert (caught.value.line, caught.value.column) == (4, 13)


def test_what_a_constructor_refuses_is_a_parse_error_with_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise VyreError("no.", fix="do not.")

    monkeypatch.setattr(n, "Barrier", refuse)
    with pytest.raises(ParseError, match=r"^<text>:5:1: no\. Fix: do not\.$"):
        parse_program(body("barrier"))
