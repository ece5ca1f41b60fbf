"""Keeps one token more than needed.

Exercise: sample_top_p
Believes: The token after the sum has reached p still belongs to the set.
Shows: The set is one token too large.
Hint: With probabilities 0.6, 0.3, 0.1 and p = 0.5: what is the smallest set whose sum reaches
  p?
Rejected by: test_smallest_set
Costs: 30 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before - torch.cat([torch.zeros_like(ordered[..., :1]), ordered[..., :-1]], -1) < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
