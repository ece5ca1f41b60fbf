"""Makes its running sums on the CPU.

Exercise: tiled_attention
Believes: New tensors are where the others are.
Shows: An error on a GPU: two devices are mixed.
Hint: Give new tensors the device of an input, or derive them from one (torch.zeros_like,
    x.new_zeros).
Rejected by: test_device
Costs: 10 %
Belief: starts_on_the_cpu
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = _wide(q.dtype)
    queries = q.to(dtype)
    maximum = torch.full_like(queries[..., :1], -torch.inf)
    total = torch.zeros_like(maximum)
    output = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=dtype)
    for start in range(0, k.shape[-2], block_size):
        keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
        scores = _scores(queries, keys, start, causal)
        new_maximum = torch.maximum(maximum, scores.detach().amax(-1, keepdim=True))
        rescale = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * rescale + weights.sum(-1, keepdim=True)
        output = output * rescale + weights @ values
        maximum = new_maximum
    logsumexp = (maximum + torch.log(total)).squeeze(-1)
    return (output / total).to(q.dtype), logsumexp.to(q.dtype)
