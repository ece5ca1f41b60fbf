"""Lets a position see its whole bucket, however many chunks that fills.

Exercise: lsh_attention
Believes: Same bucket is the only condition.
Shows: Right for small buckets; with large ones too many keys, and a table of T x T.
Hint: How much work does one enormous bucket make? What do the chunks put a bound on?
Rejected by: test_looks_back_one_chunk
Costs: 30 %
"""


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    dtype = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    visible = buckets.unsqueeze(-1) == buckets.unsqueeze(-2)
    if causal:
        visible = visible.tril()
    scores = qk.to(dtype) @ _unit_length(qk.to(dtype)).transpose(-2, -1) / math.sqrt(qk.shape[-1])
    scores = (scores - 1e5 * torch.eye(qk.shape[-2], dtype=dtype, device=qk.device)).unsqueeze(-3)
    outputs, logsumexps = _attend(scores.expand(visible.shape), visible, v.to(dtype).unsqueeze(-3))
    return combine_rounds(outputs, logsumexps.squeeze(-1)).to(v.dtype)
