"""Keeps the least likely tokens.

Exercise: sample_top_p
Believes: sort() starts with the largest.
Shows: The most likely tokens are never drawn.
Hint: Print the first entry of your sorted probabilities.
Rejected by: test_drawn_tokens
Costs: 35 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=False)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
