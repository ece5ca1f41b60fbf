"""Does not check that d is even.

Exercise: rotary_frequencies
Believes: The last feature can stay as it is.
Shows: An odd width raises no error.
Hint: How many pairs are there for d = 7?
Rejected by: test_refuses_odd_widths
Costs: 15 %
"""

def rotary_frequencies(d, base=10000.0, factor=1.0, method="linear", length=None):
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
    return frequencies.float()
