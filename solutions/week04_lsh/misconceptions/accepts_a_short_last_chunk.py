"""Accepts a length that does not fill its last chunk.

Exercise: lsh_attention
Believes: Filling up with zeros helps the caller.
Shows: Returns a result instead of raising an error.
Hint: What does the Raises section require if the length is not divisible by bucket_size?
Rejected by: test_refuses_a_length_that_leaves_a_remainder
Costs: 15 %
Belief: length_not_checked
"""

_attend_to_whole_chunks = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    length = qk.shape[-2]
    missing = -length % bucket_size
    qk, v = (nn.functional.pad(x, (0, 0, 0, missing)) for x in (qk, v))
    return _attend_to_whole_chunks(qk, v, rotations, bucket_size, causal)[..., :length, :]
