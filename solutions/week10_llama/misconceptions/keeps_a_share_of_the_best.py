"""Keeps the tokens with at least the share 1 - p of the best one's probability.

Exercise: sample_top_p
Believes: Top-p compares each token with the best one.
Shows: The set is too large or too small.
Hint: Add up the probabilities that you keep. Is the sum the smallest one that reaches p?
Rejected by: test_drawn_tokens
Costs: 35 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(ordered >= (1 - p) * ordered[..., :1], 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
