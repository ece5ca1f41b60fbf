"""Divides by the largest weight even when that is 0.

Exercise: ascii_heatmap
Believes: some weight is always positive.
Shows: an error for a matrix of zeros, since NaN has no whole part.
Hint: What should an empty picture look like, and what does your code divide by there?
Rejected by: test_all_zero
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    with np.errstate(invalid="ignore"):
        shares = weights / weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, shares):
        levels = [min(int(share * darkest), darkest) for share in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
