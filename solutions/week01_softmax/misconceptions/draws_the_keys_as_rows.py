"""Draws the matrix on its side, with a line per key.

Exercise: ascii_heatmap
Believes: rows and columns of attention can be exchanged.
Shows: the drawing is mirrored along the diagonal.
Hint: Give one query all its weight on one key. Is the dark cell in that query's line?
Rejected by: test_drawing
Costs: 35 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights.T):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
