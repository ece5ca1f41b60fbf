"""Goes through a thousand keys and no further.

Exercise: tiled_attention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the last ones are missing from output and logsumexp.
Hint: How many blocks are there? Take the number from the keys, not from what was enough so far.
Rejected by: test_many_keys
Costs: 20 %
Belief: a_thousand_is_enough
"""


_exact = tiled_attention


def tiled_attention(q, k, v, block_size=64, causal=False):
    return _exact(q, k[..., :1000, :], v[..., :1000, :], block_size, causal)
