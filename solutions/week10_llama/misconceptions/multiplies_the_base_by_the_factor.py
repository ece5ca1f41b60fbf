"""Multiplies the base by the factor itself in "ntk".

Exercise: rotary_frequencies
Believes: A context twice as long needs twice the base.
Shows: No pair is stretched by the whole factor.
Hint: Which pair should be slowed down by exactly the factor? Insert its index into
  base^(-2i/d).
Rejected by: test_ntk
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
        base = base * factor
    frequencies = base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)
    if method == "linear":
        frequencies = frequencies / factor
    if method == "yarn":
        turns = length * frequencies / (2 * math.pi)
        kept = ((turns - 1) / 31).clamp(0, 1)
        frequencies = (1 - kept) * frequencies / factor + kept * frequencies
    return frequencies.float()
