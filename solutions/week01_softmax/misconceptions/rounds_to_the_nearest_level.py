"""Rounds to the nearest level.

Exercise: ascii_heatmap
Believes: rounding is what turns a number into an index.
Shows: about half of the cells are one level too dark.
Hint: Which level should 0.9 of a step get, by the docstring?
Rejected by: test_drawing
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [round(float(w) * darkest / largest) if largest > 0 else 0 for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
