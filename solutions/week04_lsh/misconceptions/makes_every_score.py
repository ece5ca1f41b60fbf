"""Makes the scores of all pairs and hides most of them afterwards.

Exercise: lsh_attention
Believes: A masked score costs nothing.
Shows: Right values, but tables of T x T: no memory and no work is saved.
Hint: Gather the keys of each window first, and make scores for those only.
Rejected by: test_memory_stays_below_the_square
Costs: 40 %
"""


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    length = qk.shape[-2]
    if length % bucket_size != 0:
        raise ValueError(f"sequence length {length} is not divisible by bucket_size {bucket_size}")
    dtype = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    chunk = sort_by_bucket(buckets)[1] // bucket_size
    back = chunk.unsqueeze(-1) - chunk.unsqueeze(-2)
    visible = (buckets.unsqueeze(-1) == buckets.unsqueeze(-2)) & (back >= 0) & (back <= 1)
    if causal:
        visible = visible.tril()
    scores = qk.to(dtype) @ _unit_length(qk.to(dtype)).transpose(-2, -1) / math.sqrt(qk.shape[-1])
    scores = (scores - 1e5 * torch.eye(length, dtype=dtype, device=qk.device)).unsqueeze(-3)
    outputs, logsumexps = _attend(scores.expand(visible.shape), visible, v.to(dtype).unsqueeze(-3))
    return combine_rounds(outputs, logsumexps.squeeze(-1)).to(v.dtype)
