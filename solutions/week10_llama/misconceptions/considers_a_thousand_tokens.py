"""Considers only the first 1000 tokens of the vocabulary.

Exercise: sample_top_p
Believes: No vocabulary is that large.
Shows: Later tokens are never drawn.
Hint: Does your function look at every column?
Rejected by: test_a_large_vocabulary
Costs: 20 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    logits = logits[:, :1000]
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
