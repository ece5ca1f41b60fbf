"""Hostile texts, for the tests of every place that displays them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat
from nbformat import v4

_SVG = "<svg xmlns='http://www.w3.org/2000/svg' onload='ran(900)'><script>ran(901)</script></svg>"
_BREAKS = '"><img src=x onerror=ran(902)>'
_KINDS = (
    "text/html",
    "text/markdown",
    "text/latex",
    "text/plain",
    "text/vnd.mermaid",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "application/javascript",
    "application/pdf",
    "application/xhtml+xml",
    "text/x-unknown",
)


def payloads() -> dict[str, str]:
    """Return texts that call `ran(number)` in a page that does not escape them, by technique."""
    found: dict[str, str] = {}
    lines = (Path(__file__).parent / "payloads.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(line for line in lines if not line.startswith("# ")):
        name, _, text = line.partition("\t")
        found[name] = text.replace("@", str(number)).replace("  ", "\n").replace("%00", "\0")
    return found


def hostile_notebook(lesson: Any) -> Any:
    """A copy of a lesson with every payload in its written answers and in cells of every kind.

    Forge every part of a notebook: outputs, attachments, metadata and names.
    """
    texts = list(payloads().values())
    notebook = nbformat.from_dict(dict(lesson))
    everything = "\n\n".join(texts)
    for cell in notebook.cells:
        grading = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown" and grading.get("solution"):
            cell.source = everything
            cell["attachments"] = _attachments()
        if cell.cell_type == "code" and grading.get("grade"):
            cell.outputs += _outputs(everything)
    for kind in ("markdown", "raw", "code"):
        notebook.cells += [_cell(kind, text) for text in texts]
    notebook.cells[-1].outputs = _outputs(everything)
    notebook.metadata.title = notebook.metadata.name = _BREAKS
    notebook.metadata.language_info = {"name": _BREAKS, "pygments_lexer": _BREAKS}
    notebook.metadata.widgets = {
        "application/vnd.jupyter.widget-state+json": {"state": f"</script>{_BREAKS}"}
    }
    return notebook


def _cell(kind: str, text: str) -> Any:
    made = {
        "markdown": lambda: v4.new_markdown_cell(f"{text}\n\n![x](attachment:x.svg)"),
        "raw": lambda: v4.new_raw_cell(text),
        "code": lambda: v4.new_code_cell(text),
    }[kind]()
    made.metadata.update({"tags": [_BREAKS], "alt": _BREAKS, "raw_mimetype": "text/html"})
    made.metadata["magics_language"] = _BREAKS
    if kind == "markdown":
        made["attachments"] = _attachments()
    return made


def _attachments() -> Any:
    svg = base64.b64encode(_SVG.encode()).decode()
    return {
        "x.svg": {"image/svg+xml": svg},
        "nothing.png": {},
        _BREAKS: {"image/png": _BREAKS},
        "page.png": {"text/html": base64.b64encode(_BREAKS.encode()).decode()},
    }


def _outputs(text: str) -> list[Any]:
    beside = {"width": _BREAKS, "height": _BREAKS, "alt": _BREAKS, "isolated": True}
    shown = [
        v4.new_output("display_data", {kind: text}, metadata={kind: beside}) for kind in _KINDS
    ]
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": f"</script>{_BREAKS}"}}
    return [
        *shown,
        v4.new_output("display_data", widget),
        v4.new_output("execute_result", {"text/html": text, "text/plain": text}),
        v4.new_output("stream", name="stdout", text=f"\x1b]8;;javascript:ran(903)\x07{text}"),
        v4.new_output("stream", name="stderr", text=text),
        v4.new_output("error", ename=_BREAKS, evalue=text, traceback=[text]),
    ]
