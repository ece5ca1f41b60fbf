"""RESULTS.md: one section per benchmark, each written anew when its benchmark was run."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from pathlib import Path

from .measure import machine

RESULTS = Path(__file__).with_name("RESULTS.md")
ORDER = ("throughput", "floor", "growth", "whole", "again", "outside", "cluster", "start", "gpu")
ORDER += ("ablation", "touched")
_HEAD = (
    "# Results\n\nMade by `make bench`. Processor time is user and system time of all processes.\n"
)


def write_section(name: str, title: str, body: str) -> None:
    """Replace one section; the others stay as they are."""
    if name not in ORDER:
        raise ValueError(f"no place in {RESULTS.name} for {name!r}: add it to ORDER")
    today = dt.date.today().strftime("%d %B %Y")
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    sections = dict(re.findall(r"<!-- (\w+) -->\n(.*?)\n*(?=<!-- |\Z)", text, re.DOTALL))
    sections[name] = f"## {title}\n\n{today}; {machine()}.\n\n{body.strip()}\n"
    parts = [f"<!-- {n} -->\n{sections[n].strip()}\n" for n in ORDER if n in sections]
    RESULTS.write_text("\n".join([_HEAD, *parts]), encoding="utf-8")
    print(f"\n{title}\n\n{body.strip()}\n\nwritten to {RESULTS.name}")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def exponent(small: float, large: float, first: int, last: int) -> float:
    """How a cost grows with the size: 1 if it is the same for each."""
    return math.log(large / small) / math.log(last / first)
