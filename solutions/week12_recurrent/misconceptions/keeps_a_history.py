"""Keeps every token and computes all weights again.

Exercise: linear_attention_step
Believes: A new output needs all previous keys.
Shows: Outputs of a sequence are correct, but the state is not a sum and each step takes longer.
Hint: Does the size of your state depend on the number of tokens?
Rejected by: test_work
Costs: 45 %
"""

def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    keys, values = feature_map(k.to(wide)).unsqueeze(2), v.to(wide).unsqueeze(2)
    if state is not None and state[0].dim() == state[1].dim():
        keys, values = torch.cat([state[1], keys], dim=2), torch.cat([state[0], values], dim=2)
    weights = (feature_map(q.to(wide)).unsqueeze(2) @ keys.mT)
    output = (weights @ values).squeeze(2) / weights.sum(dim=-1)
    return output.to(v.dtype), (values, keys)
