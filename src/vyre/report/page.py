"""The page of a certificate: one HTML file with its style, its charts and nothing from a network."""

from __future__ import annotations

import importlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.report.view import view

if TYPE_CHECKING:
    from vyre.conform.certify.statement import Document


def render(document: Document) -> str:
    """The whole page."""
    folder = files("vyre.report") / "assets"
    try:
        jinja2: Any = importlib.import_module("jinja2")
    except ImportError:
        raise VyreError(
            "jinja2 is not installed, which makes the page.", fix="pip install 'vyre[conform]'."
        ) from None
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "page.html").read_text(encoding="utf-8"))
    style = (folder / "page.css").read_text(encoding="utf-8")
    script = (folder / "page.js").read_text(encoding="utf-8")
    return template.render(view=view(document), style=style, script=script)
