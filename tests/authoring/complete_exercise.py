"""Read the files of the complete exercise in docs/authors.md."""

from __future__ import annotations

import re
from pathlib import Path

from tests.courses import PROJECT

WEEK, EXERCISE = "week01_scores", "standardize"


def files_on_the_page() -> dict[str, str]:
    """Map each path in the section "One complete exercise" to the Python block below it."""
    page = (PROJECT / "docs" / "authors.md").read_text(encoding="utf-8")
    section = page.partition("## One complete exercise\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^`(\S+)`:.*?^```python\n(.*?)^```", section, re.M | re.S))


def write_exercise(root: Path) -> None:
    """Replace the template's example in a course that `new` has created by the page's exercise."""
    for name in ("misconceptions/subtracts_one_mean.py", "alternatives/sum_and_count.py"):
        (root / "solutions" / WEEK / name).unlink()
    for path, text in files_on_the_page().items():
        (root / path).write_text(text, encoding="utf-8")
