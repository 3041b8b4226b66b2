"""The README's code runs as written and prints what the README says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
DOCS = README.parent / "docs"


def blocks() -> list[tuple[str, str]]:
    return re.findall(r"```(\w+)\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_first_block_is_the_ten_line_kernel_and_prints_what_follows(tmp_path: Path) -> None:
    (language, code), (kind, output) = blocks()[:2]
    assert (language, kind) == ("python", "text")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    script = tmp_path / "first.py"
    script.write_text(code)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout == output


def test_every_other_python_block_runs_too(tmp_path: Path) -> None:
    rest = [code for language, code in blocks() if language == "python"][1:]
    for number, code in enumerate(rest):
        script = tmp_path / f"block{number}.py"
        script.write_text(code)
        run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    assert rest


def test_what_it_says_a_certificate_of_the_cpu_does_not_show_is_so() -> None:
    from vyre.conform.registry import floats
    from vyre.conform.spec.program import application
    from vyre.lower.prepare import prepare
    from vyre.lower.ways import LLVM_F16_WAYS

    assert "certificate of `cpu` says little about the soft floats" in README.read_text(encoding="utf-8")
    taken = {
        key: way for s in floats() for key, way in prepare(application(s).program, ways=LLVM_F16_WAYS).ways
    }
    soft = {key for key, way in taken.items() if key.startswith("f32.") and way == "soft"}
    assert soft == {"f32.is_nan", "f32.is_inf"}
    assert {way for key, way in taken.items() if key.startswith("f64.")} == {"native"}
    halves = {f"{fmt}.{name}" for fmt in ("f16", "bf16") for name in ("add", "sub", "mul", "div", "sqrt")}
    assert {taken[key] for key in halves} == {"native"}
    assert taken["f32.sin"] == taken["f32.pow"] == "double"


def test_what_it_counts_is_what_there_is() -> None:
    from vyre.conform.oracle.golden.rows import load_rows
    from vyre.conform.registry import every_own_spec
    from vyre.conform.spec.float_names import is_float
    from vyre.conform.verify.graph import law_names
    from vyre.numeric.evidence import definitions
    from vyre.optimize.rules import RULES

    laws: Counter[str] = Counter()
    floats: Counter[str] = Counter()
    for spec in every_own_spec():
        found = Counter(role for _, role, _ in law_names(spec)) + Counter({"denied": len(spec.non_laws)})
        laws += found
        floats += found if is_float(spec.id) else Counter()
    table = (DOCS / "float-table.md").read_text(encoding="utf-8")
    mutants = re.search(
        r"(\d+) of (\d+) kinds: (\d+) caught, (\d+) survive", (DOCS / "mutants.md").read_text()
    )
    assert mutants is not None
    wrong, kinds, caught, survive = map(int, mutants.groups())
    text = README.read_text(encoding="utf-8")
    for said in (
        f"all {len(load_rows()):,} rows",
        f"all {len(re.findall(r'(?m)[|] equal [|]$', table))} operations on nine stacks",
        f"each of the {len(list(definitions()))} definitions",
        f"{laws['law']} laws and {laws['property']} properties",
        f"{laws['denied']} non-laws refuted (`vyre laws`)",
        f"{floats['law']} laws, {floats['property']} properties and {floats['denied']} non-laws are about",
        f"{wrong:,} wrong backends of {kinds} kinds",
        f"{caught:,} caught, the other {survive}",
        f"{len(RULES)} rules",
    ):
        assert said in text


def test_the_functions_that_it_says_were_tried_on_all_inputs_were() -> None:
    file = README.parent / "src" / "vyre" / "numeric" / "functions" / "evidence.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    text = README.read_text(encoding="utf-8")
    for kind, where in (("soft", "on integers"), ("double", "in doubles")):
        ran = Counter(
            str(run["by"]).partition(",")[0]
            for name, run in record.items()
            if name.startswith(f"{kind}.f32.") and (run["kind"], run["cases"]) == ("exhaustive", 2**32)
        )
        assert f"the {ran.total()} F32 functions of one operand" in text
        assert f"{where} ({ran['cuda']} on CUDA, {ran['cpu']} on `cpu`)" in text


def test_the_levels_that_it_names_are_those_of_the_page_of_certificates() -> None:
    page = (DOCS / "certified.md").read_text(encoding="utf-8").partition("\n## One transformer")[0]
    rows = [line.split(" | ") for line in page.splitlines() if re.search("[|] `[0-9a-f]{16}…` [|]$", line)]
    by_levels: dict[tuple[str, ...], dict[str, None]] = {}
    cases = [int(row[5].replace(",", "")) for row in rows]
    for backend, _, *levels in (row[:5] for row in rows):
        granted = tuple(level.strip("*") for level in levels)
        by_levels.setdefault(granted, {})[backend.removeprefix("| ").split()[0]] = None
    text = README.read_text(encoding="utf-8")
    assert len(rows) == 5
    for (integer, floats, approximate), backends in by_levels.items():
        names = ", ".join(f"`{name}`" for name in backends)
        assert f"{integer}, {floats} and {approximate}: {names}" in text
    assert f"{min(cases) / 1e9:.1f} to {max(cases) / 1e9:.1f} billion cases" in text
    (shapes,) = re.findall(r"of (\d+) rows\.", page)
    assert f"{shapes} shapes of programs" in text


def test_what_pages_count_is_what_there_is() -> None:
    from vyre.conform.oracle.golden.rows import load_rows
    from vyre.numeric.evidence import definitions

    definition_count = len(list(definitions()))
    assert f"each of the {definition_count} definitions" in (DOCS / "certificates.md").read_text(
        encoding="utf-8"
    )
    page = (DOCS / "backend.md").read_text(encoding="utf-8")
    runs = re.findall(r"golden ([\d,]+) \((?:\d+ FAILED, )?(\d+) refused\)", page)
    assert len(runs) == 2
    for ran, refused in runs:
        assert int(ran.replace(",", "")) + int(refused) == len(load_rows())
