"""Drops the token with which the sum reaches p.

Exercise: sample_top_p
Believes: The sum must not exceed p.
Shows: The set is one token too small, or even empty.
Hint: One token has probability 0.8 and p is 0.5. Which tokens are in your set?
Rejected by: test_drawn_tokens
Costs: 30 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where((before + ordered < p) | (before + ordered == before[..., :1] + ordered[..., :1]), 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
