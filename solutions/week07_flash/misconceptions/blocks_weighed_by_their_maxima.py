"""Weighs finished blocks by their maxima.

Exercise: tiled_attention
Believes: A block's importance is that of its best key.
Shows: Close to right, and exact only where all blocks have equal sums.
Hint: A block with ten good keys deserves more than one with a single good key. Which number knows
    of all of them?
Rejected by: test_values
Costs: 40 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    output = logsumexp = maximum = total = None
    for start in range(0, k.shape[-2], block_size):
        keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
        scores = _scores(q.to(dtype), keys, start, causal)
        own = torch.logsumexp(scores, -1, keepdim=True)
        best = scores.amax(-1, keepdim=True)
        finished = torch.exp(scores - _finite(own)) @ values
        if output is None:
            output, logsumexp, maximum, total = finished, own, best, torch.ones_like(best)
            continue
        new_maximum = torch.maximum(maximum, best)
        old, new = total * torch.exp(maximum - new_maximum), torch.exp(best - new_maximum)
        output = (output * old + finished * new) / (old + new)
        maximum, total = new_maximum, old + new
        logsumexp = torch.logaddexp(logsumexp, own)
    return output.to(q.dtype), logsumexp.squeeze(-1).to(q.dtype)
