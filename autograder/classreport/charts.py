"""Charts of the report as inline SVG with the colours of the page, light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
from markupsafe import Markup, escape
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

# Placeholder colours, which `_inline` replaces by those of the page.
_INK, _FILL = "#010203", "#040506"
_settings: Any = matplotlib.rc_context  # its type is a union of all settings
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.size": 11,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK
    ),
}


def histogram(shares: Sequence[float], title: str) -> Markup:
    """Return a histogram of shares between 0 and 1 in ten bins."""
    counts = [0] * 10
    for share in shares:
        counts[min(9, max(0, int(share * 10 + 1e-9)))] += 1
    with _settings(_SETTINGS):
        figure = Figure(figsize=(7, 2.8), layout="constrained")
        axes = figure.add_subplot()
        bars = axes.bar([5 + 10 * n for n in range(10)], counts, width=9, color=_FILL)
        axes.bar_label(bars, labels=[str(c) if c else "" for c in counts])
        axes.set(xlabel="percent of the points", ylabel="students", xlim=(0, 100))
        axes.set_xticks(range(0, 101, 10))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.margins(y=0.15)
        return _inline(figure, title)


def bars(names: Sequence[str], shares: Sequence[float], title: str) -> Markup:
    """Return a horizontal bar for each name; shares are between 0 and 1."""
    with _settings(_SETTINGS):
        figure = Figure(figsize=(7, 0.8 + 0.36 * len(names)), layout="constrained")
        axes = figure.add_subplot()
        drawn = axes.barh(range(len(names)), [100 * s for s in shares], color=_FILL)
        axes.bar_label(drawn, labels=[f"{100 * s:.0f}" for s in shares], padding=3)
        axes.set_yticks(range(len(names)), labels=list(names))
        axes.invert_yaxis()
        axes.set(xlabel="percent of the points, on average", xlim=(0, 108))
        return _inline(figure, title)


def _inline(figure: Figure, title: str) -> Markup:
    """Return a figure as SVG. matplotlib escapes the texts in it; the title is escaped here."""
    out = io.StringIO()
    with _settings({"svg.hashsalt": title}):
        figure.savefig(
            out,
            format="svg",
            transparent=True,
            metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
        )
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = svg.replace(_INK, "currentColor").replace(_FILL, "var(--fill)")
    start, rest = svg.split(">", 1)
    start = re.sub(r' (width|height)="[^"]*"', "", start)
    # matplotlib uses the same ids in every figure, and nothing refers to these
    rest = re.sub(
        r' id="(?:figure|axes|patch|matplotlib\.axis|xtick|ytick|text|line2d)_\d+"', "", rest
    )
    return Markup(f'{start} role="img" aria-label="{escape(title)}">{rest}')
