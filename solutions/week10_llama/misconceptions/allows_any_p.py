"""Does not check p.

Exercise: sample_top_p
Believes: Values outside the range make no sense, so nobody uses them.
Shows: p = 1.25 raises no error.
Hint: Which values of p are allowed? Where do you refuse the others?
Rejected by: test_refuses_other_p
Costs: 15 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
