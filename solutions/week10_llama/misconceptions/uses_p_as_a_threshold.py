"""Keeps the tokens with a probability of at least p.

Exercise: sample_top_p
Believes: p is the smallest probability that is allowed.
Shows: With many likely tokens none is left but the first.
Hint: Ten tokens have probability 0.1 each, and p is 0.5. How many of them do you keep?
Rejected by: test_drawn_tokens
Costs: 35 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where((ordered >= p) | (before == 0), 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
