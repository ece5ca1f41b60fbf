"""Leaves all pairs above one turn as they are in "yarn", without a ramp.

Exercise: rotary_frequencies
Believes: A pair is either interpolated or left alone.
Shows: The frequencies jump at one turn.
Hint: What happens to a pair that makes 16 turns, half-way between the two limits?
Rejected by: test_yarn
Costs: 25 %
"""

def rotary_frequencies(d, base=10000.0, factor=1.0, method="linear", length=None):
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    if method not in ("linear", "ntk", "yarn"):
        raise ValueError(f"unknown method {method!r}")
    if factor < 1:
        raise ValueError(f"factor = {factor} is below 1")
    if method == "yarn" and length is None:
        raise ValueError("yarn needs a length")
    if method == "ntk":
        base = base * factor ** (d / (d - 2))
    frequencies = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
    if method == "linear":
        frequencies = frequencies / factor
    if method == "yarn":
        turns = length * frequencies / (2 * math.pi)
        kept = (turns > 1).double()
        frequencies = (1 - kept) * frequencies / factor + kept * frequencies
    return frequencies.float()
