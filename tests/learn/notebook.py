"""Write an answer into a learner's notebook, as JupyterLab does."""

from __future__ import annotations

import json
from pathlib import Path


def answer(notebook: Path, question: str, text: str) -> None:
    content = json.loads(notebook.read_text("utf-8"))
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == question:
            cell["source"] = text
    notebook.write_text(json.dumps(content), "utf-8")
