"""Cuts the sequence into chunks in its original order, without sorting.

Exercise: lsh_attention
Believes: The bucket mask alone brings similar positions together.
Shows: Only close neighbours of the same bucket meet.
Hint: Two positions with the same bucket may be far apart. Which step brings them into one chunk?
Rejected by: test_values
Costs: 35 %
"""

_attend_in_sorted_order = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    n_chunks = qk.shape[-2] // bucket_size
    dtype = torch.promote_types(qk.dtype, torch.float32)
    in_chunks = (-2, (n_chunks, bucket_size))
    buckets = hash_vectors(qk, rotations).unsqueeze(-1).unflatten(*in_chunks)
    positions = torch.arange(qk.shape[-2], device=qk.device).unsqueeze(-1).unflatten(*in_chunks)
    queries = qk.to(dtype).unsqueeze(-3).unflatten(*in_chunks)
    keys = _look_back(_unit_length(queries))
    values = _look_back(v.to(dtype).unsqueeze(-3).unflatten(*in_chunks))
    outputs, logsumexps = _attend(
        _scores(queries, keys, positions), _may_see(positions, buckets, causal), values
    )
    return combine_rounds(outputs.flatten(-3, -2), logsumexps.flatten(-3)).to(v.dtype)
