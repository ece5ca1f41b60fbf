"""Uses the index of the pair, not twice the index, in the exponent.

Exercise: rotary_frequencies
Believes: The exponent of pair i is i/d.
Shows: The frequencies fall half as fast as they should.
Hint: Print the frequencies for d = 4: which two do you get, and which ones does the formula
  give?
Rejected by: test_without_scaling
Costs: 35 %
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
    frequencies = base ** -(torch.arange(d // 2, dtype=torch.float64) / d)
    if method == "linear":
        frequencies = frequencies / factor
    if method == "yarn":
        turns = length * frequencies / (2 * math.pi)
        kept = ((turns - 1) / 31).clamp(0, 1)
        frequencies = (1 - kept) * frequencies / factor + kept * frequencies
    return frequencies.float()
