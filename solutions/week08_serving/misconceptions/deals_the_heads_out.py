"""Gives query head h the key-value head h % H_kv.

Exercise: grouped_query_attention
Believes: Heads are dealt out in turn, like cards.
Shows: Right for one head and for a head each; between them most heads look at the wrong keys.
Hint: With H = 8 and H_kv = 2, which heads share? The docstring's formula has //, not %.
Rejected by: test_groups_of_neighbours
Costs: 35 %
"""


def grouped_query_attention(q, k, v, mask=None):
    batch, heads, n, d = q.shape
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    each = heads // kv_heads
    dealt = q.reshape(batch, each, kv_heads, n, d).transpose(1, 2)
    scores = dealt.reshape(batch, kv_heads, each * n, d) @ k.transpose(-2, -1) / math.sqrt(d)
    scores = scores.reshape(batch, kv_heads, each, n, m).transpose(1, 2)
    weights = _masked_softmax(scores.reshape(batch, heads, n, m), mask)
    mixing = weights.reshape(batch, each, kv_heads, n, m).transpose(1, 2)
    output = mixing.reshape(batch, kv_heads, each * n, m) @ v
    output = output.reshape(batch, kv_heads, each, n, v.shape[-1]).transpose(1, 2)
    return output.reshape(batch, heads, n, v.shape[-1]), weights
