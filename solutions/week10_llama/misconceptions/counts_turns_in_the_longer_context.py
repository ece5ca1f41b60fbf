"""Counts the turns within the extended context in "yarn".

Exercise: rotary_frequencies
Believes: What matters is the context that the model will be used for.
Shows: Pairs that never completed a turn in training are left unscaled.
Hint: Which angles has the model seen? Within which context do you have to count?
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
        turns = length * factor * frequencies / (2 * math.pi)
        kept = ((turns - 1) / 31).clamp(0, 1)
        frequencies = (1 - kept) * frequencies / factor + kept * frequencies
    return frequencies.float()
