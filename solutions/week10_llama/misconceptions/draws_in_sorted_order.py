"""Draws from the sorted probabilities.

Exercise: sample_top_p
Believes: The order of the columns does not matter.
Shows: Same probabilities, but another token for the same seed.
Hint: Which token does column 0 belong to in the probabilities that you draw from?
Rejected by: test_drawn_tokens
Costs: 25 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    place = torch.multinomial(ordered.where(before < p, 0.0), 1, generator=generator)
    return order.gather(-1, place).squeeze(-1)
