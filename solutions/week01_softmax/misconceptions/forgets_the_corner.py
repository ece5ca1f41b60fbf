"""Starts the first line with the first token, although the other lines start with a name.

Exercise: ascii_heatmap
Believes: the header has a column per key and nothing else.
Shows: every token is one column left of its cells.
Hint: What fills the first column of the first line?
Rejected by: test_drawing
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    lines = ["".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
