"""Draws from all tokens.

Exercise: sample_top_p
Believes: Unlikely tokens are hardly ever drawn.
Shows: Once in a while an absurd token appears.
Hint: Set p to 0.000001. How many different tokens can come out?
Rejected by: test_smallest_set
Costs: 80 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < 2, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
