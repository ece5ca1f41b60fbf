"""Computes all T x T scores.

Exercise: chunked_linear_attention
Believes: The parallel form gives the same outputs.
Shows: Outputs are correct, but memory and work grow with T².
Hint: How many elements has your largest tensor for T = 512?
Rejected by: test_memory
Costs: 70 %
"""

def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    total = log_decay.to(wide).cumsum(-1).unsqueeze(-1)
    o = gated_linear_attention(q.to(wide), k.to(wide), v.to(wide), log_decay.to(wide))
    end = total[:, :, -1:]
    last = (k.to(wide) * (end - total).exp()).mT @ v.to(wide)
    if state is not None:
        o = o + total.exp() * (q.to(wide) @ state)
        last = last + end.exp() * state
    return o.to(v.dtype), last
