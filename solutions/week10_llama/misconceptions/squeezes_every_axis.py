"""Removes every axis of size 1.

Exercise: sample_top_p
Believes: squeeze() removes what is not needed.
Shows: A batch of one loses its axis.
Hint: What is the shape of your result for a batch of one?
Rejected by: test_shapes
Costs: 20 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze()
