"""Follows `width` for the tokens, but pads every cell with three spaces.

Exercise: ascii_heatmap
Believes: two spaces, a character and three spaces make a cell of any width.
Shows: right for the default; otherwise the cells drift away from their tokens.
Hint: Two places, one place: how many are left of `width`?
Rejected by: test_width
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        lines.append(f"{token:>{width}}" + "".join(f"  {chars[level]}   " for level in levels))
    return "\n".join(lines)
