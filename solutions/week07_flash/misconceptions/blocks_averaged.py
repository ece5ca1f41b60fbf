"""Takes the softmax within each block and averages the blocks.

Exercise: tiled_attention
Believes: A softmax over all keys is the mean of softmaxes over blocks.
Shows: Each block counts the same, however small its scores are.
Hint: Compare the denominators of two blocks: which block deserves more weight, and how much more?
Rejected by: test_scores_that_rise
Costs: 45 %
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    starts = range(0, k.shape[-2], block_size)
    output, seen, logsumexp = 0.0, 0.0, None
    for start in starts:
        keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
        scores = _scores(q.to(dtype), keys, start, causal)
        own = torch.logsumexp(scores, -1, keepdim=True)
        empty = own == -torch.inf
        output = output + torch.exp(scores - own.masked_fill(empty, 0.0)) @ values
        seen = seen + (~empty).to(dtype)
        logsumexp = own if logsumexp is None else torch.logaddexp(logsumexp, own)
    return (output / seen).to(q.dtype), logsumexp.squeeze(-1).to(q.dtype)
