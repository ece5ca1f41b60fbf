"""Returns a column.

Exercise: sample_top_p
Believes: multinomial's shape is fine.
Shows: The result is (B, 1).
Hint: Which shape does the docstring state?
Rejected by: test_drawn_tokens
Costs: 35 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator)
