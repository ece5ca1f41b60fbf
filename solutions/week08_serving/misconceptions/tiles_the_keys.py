"""Copies the keys so that query head h uses head h % H_kv.

Exercise: grouped_query_attention
Believes: repeat and repeat_interleave differ in name only.
Shows: Heads are dealt out in turn (h % H_kv), and the keys are copied.
Hint: With two key-value heads and four query heads, in which order are your copies? What does the
    docstring's formula give for h = 0, 1, 2, 3?
Rejected by: test_groups_of_neighbours
Costs: 45 %
Same as: deals_the_heads_out because the order is wrong before the copy is seen
"""


def grouped_query_attention(q, k, v, mask=None):
    heads, kv_heads = q.shape[1], k.shape[1]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    k, v = (x.repeat(1, heads // kv_heads, 1, 1) for x in (k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = _masked_softmax(scores, mask)
    return weights @ v, weights
