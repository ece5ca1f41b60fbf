"""Sorts every round by the buckets of the first one.

Exercise: lsh_attention
Believes: One sorted order serves all rounds.
Shows: Right for one round; in the others, positions of the same bucket lie in different chunks.
Hint: Each round has separate buckets. Which order brings those together?
Rejected by: test_rounds_count_by_what_they_found
Costs: 30 %
"""


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    dtype = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    order, inverse = sort_by_bucket(buckets[..., :1, :].expand(buckets.shape))
    queries = _sorted_chunks(qk.to(dtype), order, bucket_size)
    keys = _look_back(_sorted_chunks(_unit_length(qk.to(dtype)), order, bucket_size))
    values = _look_back(_sorted_chunks(v.to(dtype), order, bucket_size))
    positions = order.unflatten(-1, (-1, bucket_size)).unsqueeze(-1)
    labels = buckets.gather(-1, order).unflatten(-1, (-1, bucket_size)).unsqueeze(-1)
    outputs, logsumexps = _attend(
        _scores(queries, keys, positions), _may_see(positions, labels, causal), values
    )
    outputs, logsumexps = (
        _in_original_order(outputs, inverse),
        _in_original_order(logsumexps, inverse),
    )
    return combine_rounds(outputs, logsumexps.squeeze(-1)).to(v.dtype)
