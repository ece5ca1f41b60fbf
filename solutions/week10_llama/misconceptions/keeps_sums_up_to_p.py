"""Keeps only the tokens whose sum does not exceed p.

Exercise: sample_top_p
Believes: p is an upper limit of the sum.
Shows: The set is one token too small, unless a single token exceeds p.
Hint: The most likely tokens have the probabilities 0.4 and 0.25, and p is 0.5. When is p reached?
Rejected by: test_drawn_tokens
Costs: 30 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    fits = ordered.cumsum(dim=-1) <= p
    fits[:, 0] = True
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered * fits)
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
