"""Students' texts use one term per concept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    path
    for pattern in (
        "exercises/**/*.md",
        "exercises/**/*.py",
        "exercises/**/*.yaml",
        "solutions/*/answers.md",
        "autograder/graders/*/*.py",
        "docs/*.md",
        "README.md",
    )
    for path in sorted(ROOT.glob(pattern))
]
# Avoided terms and their replacements.
TERMS = {
    r"hidden checks?": "hidden tests",
    r"public tests?": "public checks",
    r"(may attend to nothing|nothing to attend to|may see no key|without a visible key)": (
        "a query with no visible key"
    ),
    r"log-sum-exp": "logsumexp",
    r"in which (it|they) came\b(?! in)": "the mode is as it was",
    r"dropout falls": "dropout is applied",
    r"behind the end": "past the end",
}


@pytest.mark.parametrize("other", TERMS)
def test_a_thing_has_one_name(other: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]!r}; say {TERMS[other]!r}"
        for path in PAGES
        for hit in [re.search(other, " ".join(path.read_text("utf-8").split()), re.IGNORECASE)]
        if hit
    ]
    assert found == []


def test_each_lesson_ends_with_what_to_remember() -> None:
    lessons = sorted(ROOT.glob("exercises/week*/lesson.md"))
    headings = [re.findall(r"^## (.*)$", p.read_text("utf-8"), re.MULTILINE)[-1] for p in lessons]
    assert set(headings) == {"What to remember"}
