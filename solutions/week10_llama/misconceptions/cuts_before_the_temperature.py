"""Chooses the set before the temperature is applied.

Exercise: sample_top_p
Believes: The set belongs to the model, the temperature to the drawing.
Shows: At other temperatures the set is too small or too large.
Hint: Which probabilities have to sum to p, those before or after the temperature?
Rejected by: test_temperature
Costs: 25 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    cold = torch.softmax(logits, dim=-1)
    sums, places = cold.sort(dim=-1, descending=True)
    sums = torch.zeros_like(cold).scatter(-1, places, sums.cumsum(-1) - sums)
    kept = probabilities.where(sums < p, 0.0)
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
