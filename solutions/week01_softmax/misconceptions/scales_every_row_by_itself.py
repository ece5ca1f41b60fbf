"""Makes the darkest cell of every row black, so that rows can no longer be compared.

Exercise: ascii_heatmap
Believes: the maximum is taken row by row.
Shows: a row of small weights looks as dark as a row with a large one.
Hint: The docstring takes one maximum. Over what?
Rejected by: test_drawing
Costs: 30 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / row.max()), darkest) if row.max() > 0 else 0 for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
