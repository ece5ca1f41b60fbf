"""Puts each character at the right edge of its cell.

Exercise: ascii_heatmap
Believes: cells are aligned like tokens.
Shows: every character is under the last letter of its token instead of two places into the
    cell.
Hint: How many spaces come before the character, and how many after?
Rejected by: test_drawing
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        lines.append(f"{token:>{width}}" + "".join(f"{chars[level]:>{width}}" for level in levels))
    return "\n".join(lines)
