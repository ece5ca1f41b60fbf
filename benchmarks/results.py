"""Write RESULTS.md, which has one section per benchmark; each run replaces its section."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from pathlib import Path

from .measure import machine

RESULTS = Path(__file__).with_name("RESULTS.md")
ORDER = ("throughput", "floor", "growth", "whole", "again", "outside", "cluster", "start", "gpu")
ORDER += ("ablation", "touched", "counterexamples")
_HEAD = "# Results\n\nWritten by `make bench`. Processor times include all child processes.\n"


def write_section(name: str, title: str, body: str) -> None:
    """Replace one section of RESULTS.md, and print it.

    name:  id of the section, one of `ORDER`
    title: heading of the section
    body:  the section in Markdown; the date and the machine are added above it
    """
    if name not in ORDER:
        raise ValueError(f"{RESULTS.name} has no section {name!r}: add it to ORDER")
    today = dt.date.today().strftime("%d %B %Y")
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    sections = dict(re.findall(r"<!-- (\w+) -->\n(.*?)\n*(?=<!-- |\Z)", text, re.DOTALL))
    sections[name] = f"## {title}\n\n{today}; {machine()}.\n\n{body.strip()}\n"
    parts = [f"<!-- {n} -->\n{sections[n].strip()}\n" for n in ORDER if n in sections]
    RESULTS.write_text("\n".join([_HEAD, *parts]), encoding="utf-8")
    print(f"\n{title}\n\n{body.strip()}\n\nwrote {RESULTS.name}")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; all columns except the first are right-aligned."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def exponent(small: float, large: float, first: int, last: int) -> float:
    """Return k if the cost grows with size**k; 1 means that the cost per item is constant.

    small, large: costs for the sizes `first` and `last`
    """
    return math.log(large / small) / math.log(last / first)
