"""Always draws with the five default characters.

Exercise: ascii_heatmap
Believes: `chars` never changes.
Shows: right for the default; other characters, or another number of them, are ignored.
Hint: Call it with chars=" .:#".
Rejected by: test_characters
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    chars = " ░▒▓█"
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * 4 / largest), 4) if largest > 0 else 0 for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
