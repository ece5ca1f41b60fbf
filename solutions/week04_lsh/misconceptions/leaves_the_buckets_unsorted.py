"""Compares the buckets in their original order with positions that have been sorted.

Exercise: lsh_attention
Believes: The bucket numbers need not be sorted along with the rest.
Shows: The bucket mask does not match the positions in the window.
Hint: Everything that enters a chunk has to go through the same permutation: queries, keys, values,
    positions and what else?
Rejected by: test_values
Costs: 30 %
"""


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    dtype = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    order, inverse = sort_by_bucket(buckets)
    queries = _sorted_chunks(qk.to(dtype), order, bucket_size)
    keys = _look_back(_sorted_chunks(_unit_length(qk.to(dtype)), order, bucket_size))
    values = _look_back(_sorted_chunks(v.to(dtype), order, bucket_size))
    positions = order.unflatten(-1, (-1, bucket_size)).unsqueeze(-1)
    labels = buckets.unflatten(-1, (-1, bucket_size)).unsqueeze(-1)
    outputs, logsumexps = _attend(
        _scores(queries, keys, positions), _may_see(positions, labels, causal), values
    )
    outputs, logsumexps = (
        _in_original_order(outputs, inverse),
        _in_original_order(logsumexps, inverse),
    )
    return combine_rounds(outputs, logsumexps.squeeze(-1)).to(v.dtype)
