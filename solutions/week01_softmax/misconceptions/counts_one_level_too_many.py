"""Uses one level more than there are steps between the characters.

Exercise: ascii_heatmap
Believes: five characters make five steps.
Shows: many cells are too dark; without the cap the largest weight would raise an IndexError.
Hint: What is the index of the last of five characters?
Rejected by: test_drawing
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [
            min(int(w * len(chars) / largest), len(chars) - 1) if largest > 0 else 0 for w in row
        ]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
