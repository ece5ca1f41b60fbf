"""Read the attack files: a header, then the source of a submission or of a program that writes one.

The header names the line of docs/attacks, the expected verdicts and the maximum number of points.
It may also name a week, variants (sections of the file), hidden tests that must fail, and the text
that the instructor's report must contain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
GROUPS = ("read_secrets", "forge", "exhaust", "intake", "serving", "kernels")


@dataclass(frozen=True)
class Attack:
    """One attack file, or one variant of it, as its header describes it."""

    path: Path
    variant: str
    line: int
    expected: dict[str, frozenset[str]]
    most: dict[str, float]
    week: str
    base: str
    body: str
    tries: frozenset[str]
    fails: frozenset[str]

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}" + (
            f"-{self.variant}" * bool(self.variant)
        )

    @property
    def makes(self) -> bool:
        """Return True if the file builds the submission instead of being part of one."""
        return "\ndef make(" in self.body


def attacks() -> list[Attack]:
    """Return all attacks of all groups, one for each variant."""
    found = []
    for group in GROUPS:
        for path in sorted((HERE / group).glob("*.py")):
            found += _read(path)
    return found


def _read(path: Path) -> list[Attack]:
    text = path.read_text(encoding="utf-8")
    header = text.split('"""')[1]
    body = text.split('"""', 2)[2]
    fields = dict(re.findall(r"^([A-Z][a-z ]+): (.*)$", header, re.M))
    line = int(re.match(r"Line (\d+)\.", header)[1])  # type: ignore[index]
    expected = {}
    for part in fields["Expected"].split(";"):
        exercise, _, verdicts = part.strip().rpartition("=")
        expected[exercise] = frozenset(verdicts.split("|"))
    most = {}
    for part in fields["Score at most"].split(";"):
        exercise, _, points = part.strip().partition("=")
        most[exercise] = float(points)
    week, base = fields.get("Week", "week01_softmax"), fields.get("Base", "solution")
    tries = frozenset(filter(None, fields.get("Tries", "").split(", ")))
    fails = frozenset(filter(None, fields.get("Fails", "").split(", ")))
    return [
        Attack(
            path, variant, line, expected, most, week, base, _section(body, variant), tries, fails
        )
        for variant in fields.get("Variants", "").split() or [""]
    ]


def _section(body: str, variant: str) -> str:
    """Return the text before the first `#=== name` plus the section of this variant."""
    common, *sections = re.split(r"^#=== ", body, flags=re.M)
    own = [s.partition("\n")[2] for s in sections if s.partition("\n")[0] == variant]
    return common + "".join(own)
