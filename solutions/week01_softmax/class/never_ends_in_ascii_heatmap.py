"""Forgets to move on. Expected: only `ascii_heatmap` is lost, after its time limit."""

from collections.abc import Sequence

import numpy as np


def ascii_heatmap(
    weights: np.ndarray, tokens: Sequence[str], chars: str = " ░▒▓█", width: int = 6
) -> str:
    lines, row = [" " * width + "".join(f"{token:>{width}}" for token in tokens)], 0
    while row < len(tokens):
        lines.append(f"{tokens[row]:>{width}}")
    return "\n".join(lines)
