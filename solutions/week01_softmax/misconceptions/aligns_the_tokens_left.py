"""Aligns the tokens to the left of their places.

Exercise: ascii_heatmap
Believes: text is padded on the right.
Shows: every token shorter than `width` is shifted.
Hint: In a format specification, which sign means right-aligned?
Rejected by: test_drawing
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:<{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        lines.append(
            f"{token:<{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
