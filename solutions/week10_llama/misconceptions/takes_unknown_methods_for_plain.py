"""Treats an unknown method as no scaling.

Exercise: rotary_frequencies
Believes: A method without a case of its own changes nothing.
Shows: A misspelled method goes unnoticed.
Hint: What should happen if somebody asks for "cubic"?
Rejected by: test_refuses_unknown_methods
Costs: 15 %
"""

def rotary_frequencies(d, base=10000.0, factor=1.0, method="linear", length=None):
    if d % 2:
        raise ValueError(f"d = {d} is odd")
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
