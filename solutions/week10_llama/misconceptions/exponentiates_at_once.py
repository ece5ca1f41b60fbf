"""Computes the softmax from plain exponentials.

Exercise: sample_top_p
Believes: Logits are small.
Shows: Large logits give NaN or an error.
Hint: What is exp(200) in float32?
Rejected by: test_large_logits
Costs: 20 %
"""

def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0 < p <= 1:
        raise ValueError(f"p = {p} is out of range")
    probabilities = (logits / temperature).exp() / (logits / temperature).exp().sum(-1, keepdim=True)
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered.where(before < p, 0.0))
    return torch.multinomial(kept, 1, generator=generator).squeeze(-1)
