"""`docs/text-form.md` is true: its programs parse, and its tables name what exists."""

from __future__ import annotations

import re
from pathlib import Path

from vyre.graph.fields import FIELDS, OPERANDS
from vyre.ir.types import DataType
from vyre.text import parse_expr, parse_graph, parse_op, parse_program, print_op, print_program
from vyre.text.functions import FUNCTION_NAMES
from vyre.text.graph_printer import WORDS
from vyre.text.vocabulary import ACCESS_WORDS, INFIX, KEYWORDS, PREFIX

TEXT = (Path(__file__).parents[2] / "docs" / "text-form.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_the_examples_are_in_printed_form() -> None:
    (program,) = blocks("vyre")
    assert print_program(parse_program(program)) == program
    (op,) = blocks("vyre-op")
    assert parse_op(print_op(parse_op(op))) == parse_op(op)
    (statement,) = blocks("vyre-statement")
    assert parse_program(f"vyre 1 workgroup 1 entry {{ {statement} }}").entry


def test_the_graph_is_in_printed_form_and_valid() -> None:
    (text,) = blocks("vyre-graph")
    graph = parse_graph(text)
    assert graph.to_text() == text
    assert [str(graph.types[name]) for name in graph.outputs] == ["F32[seq, 16]", "F32[seq + 1]"]


def test_every_word_of_graphs_is_documented() -> None:
    part = TEXT.partition("\n## Graphs\n")[2].partition("\n## ")[0]
    words = set(re.findall(r"\w+", part))
    fields = [field for known in FIELDS.values() for field in known]
    attributes = {field.name for field in fields if field.kind not in OPERANDS} - {"type", "data", "expr"}
    members = {
        m.name for field in fields if field.members not in (None, DataType) for m in field.members or ()
    }
    assert words >= {*WORDS.values(), *attributes, *members}


def test_the_expression_table_parses() -> None:
    table = TEXT.partition("| form | expression |")[2].partition("\n\n")[0]
    forms = re.findall(r"`([^`]+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert len(forms) > 60
    for form in forms:
        if "…" not in form:
            parse_expr(form)


def test_every_word_and_symbol_is_documented() -> None:
    fenced = re.compile(r"^```.*?^```$|``.*?``", re.MULTILINE | re.DOTALL)
    quoted = set(re.findall(r"`([^`]+)`", fenced.sub("", TEXT))) | set(re.findall(r'"([^"]+)"', TEXT))
    words = {word for text in quoted for word in re.findall(r"\w+", text)}
    assert words >= FUNCTION_NAMES | KEYWORDS | set(ACCESS_WORDS.values()) | {t.value for t in DataType}
    symbols = {text.replace("\\|", "|") for text in quoted}
    assert symbols >= {symbol for symbol, _ in INFIX.values()}
    assert symbols >= {f"{symbol}x" for symbol in PREFIX.values()}
    keywords = TEXT.partition("Keywords: `")[2].partition("`")[0].split()
    assert set(keywords) == KEYWORDS
