"""Keeps the tokens whose cumulative probability is at most p.

Exercise: sample_top_p
Believes: The sum must not exceed p.
Shows: The set is one token too small; if the first token exceeds p, the set is empty and nothing can be drawn.
Hint: One token has probability 0.8 and p is 0.5. Which tokens are in your set?
Rejected by: test_one_token_is_always_kept
Costs: 35 %
"""


def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    ordered = ordered.where(ordered.cumsum(dim=-1) <= p, 0.0)
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered)
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
