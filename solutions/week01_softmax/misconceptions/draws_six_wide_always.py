"""Always makes the cells six places wide.

Exercise: ascii_heatmap
Believes: `width` never changes.
Shows: right for the default; for any other `width` the columns keep their old width.
Hint: Call it with width=9 and count the places of the first line.
Rejected by: test_width
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    lines = [" " * 6 + "".join(f"{token:>6}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        lines.append(f"{token:>6}" + "".join(f"  {chars[level]}   " for level in levels))
    return "\n".join(lines)
