"""Uses the characters it is given, but always four steps between them.

Exercise: ascii_heatmap
Believes: there are always five levels.
Shows: right for five characters; an error for fewer, and too light a drawing for more.
Hint: From which argument can you read the number of steps?
Rejected by: test_characters
Costs: 20 %
"""


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    largest = weights.max()
    lines = [" " * width + "".join(f"{token:>{width}}" for token in tokens)]
    for token, row in zip(tokens, weights):
        levels = [min(int(w * 4 / largest), 4) if largest > 0 else 0 for w in row]
        lines.append(
            f"{token:>{width}}" + "".join(f"  {chars[level]}".ljust(width) for level in levels)
        )
    return "\n".join(lines)
