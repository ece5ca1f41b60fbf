"""Lets the ramp of "yarn" rise linearly over the indices, between limits that are not rounded.

Exercise: rotary_frequencies
Believes: Between the two limits, the ramp is linear in i.
Shows: The pairs in the middle are interpolated too much or too little.
Hint: The ramp is linear in something that you compute for each pair. In what?
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
        low = d * math.log(length / (32 * 2 * math.pi)) / (2 * math.log(base))
        high = d * math.log(length / (2 * math.pi)) / (2 * math.log(base))
        kept = 1 - ((torch.arange(d // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
        frequencies = (1 - kept) * frequencies / factor + kept * frequencies
    return frequencies.float()
