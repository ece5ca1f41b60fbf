"""Returns the original order for any buckets; the attention does not sort.

Helper: sort_by_bucket
Empty: lsh_attention
Week: 4
Score at most: 0.5
"""


def sort_by_bucket(buckets):
    order = torch.arange(buckets.shape[-1], device=buckets.device).expand_as(buckets)
    return order, order


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    length = qk.shape[-2]
    if length % bucket_size != 0:
        raise ValueError(f"sequence length {length} is not divisible by bucket_size {bucket_size}")
    dtype = torch.promote_types(qk.dtype, torch.float32)
    buckets = hash_vectors(qk, rotations)
    order = inverse = torch.arange(length, device=qk.device).expand_as(buckets)
    queries = _sorted_chunks(qk.to(dtype), order, bucket_size)
    keys = _look_back(_sorted_chunks(_unit_length(qk.to(dtype)), order, bucket_size))
    values = _look_back(_sorted_chunks(v.to(dtype), order, bucket_size))
    places = order.unflatten(-1, (-1, bucket_size)).unsqueeze(-1)
    own = buckets.gather(-1, order).unflatten(-1, (-1, bucket_size)).unsqueeze(-1)
    outputs, sums = _attend(_scores(queries, keys, places), _may_see(places, own, causal), values)
    outputs = _in_original_order(outputs, inverse)
    sums = _in_original_order(sums, inverse)
    return combine_rounds(outputs, sums.squeeze(-1)).to(v.dtype)
