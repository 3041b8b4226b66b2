"""The pages: their Python runs, their commands exist with the options they name, and the site builds."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from vyre.cli.app import main

ROOT = Path(__file__).parents[2]
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))}
README = (ROOT / "README.md").read_text(encoding="utf-8")

ELSEWHERE = {
    "adding.md": "lines to put into files of vyre, for something that is not there",
    "engines.md": "tests/engines/test_engines_docs.py",
    "kernels.md": "tests/frontend/test_frontend_docs.py, with what it prints",
    "tensors.md": "tests/tensor/test_tensor_docs.py; its last block loads the reader's model",
}
"""Pages whose Python is not run here, and why."""

NOT_RUN = {"certificates.md": 1, "envelope.md": 1}
"""How many blocks of a page are marked `<!-- not run: … -->`; the mark says why."""

_BLOCK = re.compile(r"^(?:<!-- (not run): \w[^\n]* -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^(?:\$ )?vyre (?!1$|graph 1$)(.+?)(?:  +#.*| #.*)?$", re.MULTILINE)
_PRINTED = re.compile(r"^print\(.*\)  # (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#:]+)(?:#([\w-]+))?\)")


def blocks(text: str, *languages: str) -> list[str]:
    """The blocks in these languages, those aside that are marked; \"\" is a block that names none."""
    return [code for mark, language, code in _BLOCK.findall(text) if language in languages and not mark]


def test_blocks_that_are_not_run_are_counted() -> None:
    marked = {page: sum(bool(mark) for mark, *_ in _BLOCK.findall(text)) for page, text in PAGES.items()}
    assert {page: count for page, count in marked.items() if count} == NOT_RUN
    assert sum(len(_BLOCK.findall(text)) for text in PAGES.values()) > 150


def test_what_is_run_elsewhere_has_python() -> None:
    assert [page for page in ELSEWHERE if not blocks(PAGES[page], "python")] == []


@pytest.mark.parametrize(
    "page", [p for p, text in PAGES.items() if blocks(text, "python") and p not in ELSEWHERE]
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text("\n\n".join(blocks(PAGES[page], "python")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert untrue(script.read_text(encoding="utf-8"), done.stdout) == []


def untrue(code: str, output: str) -> list[str]:
    """What comments behind `print(…)` claim, and the code did not print in their order; "…" ends a claim."""
    lines, missing = iter(output.splitlines()), list[str]()
    for claim in _PRINTED.findall(code):
        begin = claim.partition("…")[0]
        said = (line == claim or ("…" in claim and line.startswith(begin)) for line in lines)
        missing += [] if any(said) else [claim]
    return missing


def test_a_comment_that_claims_another_output_is_noticed() -> None:
    code = "print(f(1))  # [1 2]\nprint(f(2))  # [3 …\n"
    assert untrue(code, "first\n[1 2]\n[3 4]\n") == []
    assert untrue(code, "[1 2]\n[4 4]\n") == ["[3 …"]
    assert untrue(code, "[1 9]\n[3 4]\n") == ["[1 2]", "[3 …"]


def nowhere(text: str, folder: Path) -> list[str]:
    """Links of a page to files, or to headings of pages, that are not there."""
    found: list[str] = []
    for name, heading in _LINK.findall(text):
        target = folder / name
        if not target.exists():
            found.append(name)
        elif heading:
            titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            found += [] if heading in slugs else [f"{name}#{heading}"]
    return found


def test_the_links_of_the_front_pages_lead_somewhere() -> None:
    """Those of docs/ are checked where the site is built."""
    fronts = [*ROOT.glob("*.md"), ROOT / "lab" / "README.md"]
    assert len(fronts) > 3
    found = {page: nowhere(page.read_text(encoding="utf-8"), page.parent) for page in fronts}
    assert {page: links for page, links in found.items() if links} == {}


def test_a_link_that_leads_nowhere_is_noticed() -> None:
    text = "[a](docs/backend.md) [b](docs/none.md) [c](docs/backend.md#the-contract) [d](docs/backend.md#no)"
    assert nowhere(text, ROOT) == ["docs/none.md", "docs/backend.md#no"]


def wrong(command: str) -> str:
    """Why `vyre` would not take a command line; nothing where it would. Nothing is run."""
    words = shlex.split(command)
    if words[0].startswith("-"):
        return ""
    above = click.Context(main, **main.context_settings)
    found = main.get_command(above, words[0])
    if found is None:
        return f"no command {words[0]}"
    try:
        found.make_context(words[0], words[1:], parent=above)
    except click.exceptions.Exit:  # --help
        return ""
    except click.ClickException as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("page", ["README.md", *PAGES])
def test_the_commands_of_a_page_exist(page: str) -> None:
    text = README if page == "README.md" else PAGES[page]
    lines = [line for code in blocks(text, "", "sh", "text", "console") for line in _COMMAND.findall(code)]
    assert {line: why for line in lines if (why := wrong(line))} == {}


def test_a_command_that_is_not_there_is_noticed() -> None:
    assert wrong("certify cpu --quick") == ""
    assert "--quik" in wrong("certify cpu --quik")
    assert "certfy" in wrong("certfy cpu")
    assert "--to" in wrong("lower kernels.py:transpose")
    assert "unexpected extra argument" in wrong("lower kernels.py:transpose wgsl --to wgsl")


def test_the_site_builds_with_every_page_and_link(tmp_path: Path) -> None:
    """Strict: a link that leads nowhere, or a page that the site leaves out, is an error."""
    pytest.importorskip("mkdocs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    build = [sys.executable, "-m", "mkdocs", "build"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    index = (tmp_path / "build" / "site" / "index.html").read_text()
    assert "tutorial.html" in index
    (tmp_path / "docs" / "index.md").write_text("[nowhere](nowhere.md)")
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, "a broken link was not noticed"
