"""Accepts p = 0.

Exercise: sample_top_p
Believes: p = 0 means the most likely token.
Shows: p = 0 raises no error.
Hint: Is 0 in the range of the docstring?
Rejected by: test_refuses_other_p
Costs: 15 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where((before < p) | (before == 0), 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
