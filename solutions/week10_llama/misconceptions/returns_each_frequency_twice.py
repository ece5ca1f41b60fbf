"""Returns each frequency twice.

Exercise: rotary_frequencies
Believes: Every feature needs a frequency.
Shows: d frequencies instead of d/2.
Hint: A pair of features is rotated by one angle. How many pairs are there?
Rejected by: test_without_scaling
Costs: 45 %
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
        kept = ((turns - 1) / 31).clamp(0, 1)
        frequencies = (1 - kept) * frequencies / factor + kept * frequencies
    return frequencies.float().repeat_interleave(2)
