"""Stretches the levels from the smallest weight to the largest, so that a weight above 0 may be
drawn as blank.

Exercise: ascii_heatmap
Believes: the lightest cell should always be blank.
Shows: the smallest weight gets chars[0] however large it is.
Hint: Which weight gets index 0 by the docstring's formula?
Rejected by: test_drawing
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    least, reach = weights.min(), weights.max() - weights.min()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int((w - least) * darkest / reach), darkest) if reach > 0 else 0 for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
