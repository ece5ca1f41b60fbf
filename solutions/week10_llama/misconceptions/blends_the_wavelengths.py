"""Blends wavelengths in "yarn".

Exercise: rotary_frequencies
Believes: Interpolating the wavelengths comes to the same.
Shows: The pairs in the middle turn too slowly.
Hint: Take the pair with a ramp of one half and factor 4. What is the mean of θ and θ/4?
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
        kept = ((turns - 1) / 31).clamp(0, 1)
        frequencies = 1 / ((1 - kept) * factor / frequencies + kept / frequencies)
    return frequencies.float()
