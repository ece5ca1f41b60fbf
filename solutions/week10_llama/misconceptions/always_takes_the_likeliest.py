"""Always returns the most likely token.

Exercise: sample_top_p
Believes: Truncation makes sampling unnecessary.
Shows: The text repeats itself.
Hint: Draw ten times from equal logits. How many different tokens do you get?
Rejected by: test_drawn_tokens
Costs: 80 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return kept.argmax(-1)
