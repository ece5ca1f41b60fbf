"""Prints the drawing and returns nothing.

Exercise: ascii_heatmap
Believes: printed text has been returned.
Shows: the drawing appears, but the caller gets None.
Hint: What is the value of `text` after `text = ascii_heatmap(...)`?
Rejected by: test_drawing
Costs: 25 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    darkest = len(chars) - 1
    largest = weights.max()
    print(" " * width + "".join(f"{token:>{width}}" for token in tokens))
    for token, row in zip(tokens, weights):
        levels = [min(int(w * darkest / largest), darkest) if largest > 0 else 0 for w in row]
        print(f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels))
