"""Assumes that the largest weight is 1.

Exercise: ascii_heatmap
Believes: attention always reaches 1 somewhere.
Shows: drawings that are too light, and nearly blank for many tokens.
Hint: What is the largest weight of a row that is spread over six tokens?
Rejected by: test_drawing
Costs: 30 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest), darkest) for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
