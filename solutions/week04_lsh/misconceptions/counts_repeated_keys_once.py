"""Counts a key that was met in several rounds only once.

Exercise: lsh_attention
Believes: The correction for duplicates in the paper belongs to the exercise.
Shows: Keys met in several rounds get less weight than they should here.
Hint: The paper corrects for duplicates; read in the docstring whether this exercise does.
Rejected by: test_a_key_met_twice_counts_twice
Costs: 20 %
"""


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    dtype = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    chunk = sort_by_bucket(buckets)[1] // bucket_size
    back = chunk.unsqueeze(-1) - chunk.unsqueeze(-2)
    met = (buckets.unsqueeze(-1) == buckets.unsqueeze(-2)) & (back >= 0) & (back <= 1)
    visible = met.any(dim=-3)
    if causal:
        visible = visible.tril()
    scores = qk.to(dtype) @ _unit_length(qk.to(dtype)).transpose(-2, -1) / math.sqrt(qk.shape[-1])
    scores = scores - 1e5 * torch.eye(qk.shape[-2], dtype=dtype, device=qk.device)
    return _attend(scores, visible, v.to(dtype))[0].to(v.dtype)
