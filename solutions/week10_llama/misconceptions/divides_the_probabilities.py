"""Divides the probabilities by the temperature.

Exercise: sample_top_p
Believes: Dividing before or after the softmax is the same.
Shows: The temperature changes only how many tokens are chosen from, not how likely each is.
Hint: Multiply all probabilities of a row by 2. Does `torch.multinomial` draw differently?
Rejected by: test_temperature
Costs: 35 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits, dim=-1) / temperature
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
