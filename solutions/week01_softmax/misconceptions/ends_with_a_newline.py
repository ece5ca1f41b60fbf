"""Puts a newline after the last line too.

Exercise: ascii_heatmap
Believes: every line ends with a newline.
Shows: the drawing is followed by an empty line.
Hint: Newlines separate lines. How many are there between n lines?
Rejected by: test_drawing
Costs: 15 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    drawing = " " * width + "".join(f"{token:>{width}}" for token in tokens) + "\n"
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        drawing += f"{token:>{width}}" + "".join(
            f"  {chars[level]}".ljust(width) for level in levels
        )
        drawing += "\n"
    return drawing
