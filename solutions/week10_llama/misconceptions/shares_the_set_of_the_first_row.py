"""Uses the first row's number of tokens for all rows.

Exercise: sample_top_p
Believes: All rows of a batch keep equally many tokens.
Shows: Other rows keep too many or too few.
Hint: One row has one likely token, another has ten. How many does each keep?
Rejected by: test_each_row_has_its_set
Costs: 30 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where((before < p)[:1], 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
