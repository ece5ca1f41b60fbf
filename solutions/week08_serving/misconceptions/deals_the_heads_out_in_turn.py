"""Gives head h the key-value head h % H_kv, and returns the heads in a different order.

Exercise: grouped_query_attention
Believes: Heads are dealt out in turn, like cards.
Shows: Right for one head and for a head each; between them heads use the wrong keys and change their order.
Hint: With H = 8 and H_kv = 2, which heads share? And which head is the second one of the output?
Rejected by: test_groups_of_neighbours
Costs: 35 %
"""


def grouped_query_attention(q, k, v, mask=None):
    heads, n, d = q.shape[1:]
    kv_heads, m = k.shape[1], k.shape[2]
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key-value heads")
    each = heads // kv_heads
    if mask is not None and mask.ndim == 4:
        mask = mask.expand(q.shape[0], heads, n, m)
    outputs, weights = [], []
    for head in range(kv_heads):
        own = slice(head, None, kv_heads)
        scores = q[:, own].flatten(1, 2) @ k[:, head].transpose(1, 2) / math.sqrt(d)
        visible = mask if mask is None or mask.ndim == 2 else mask[:, own]
        weights.append(_masked_softmax(scores.unflatten(1, (each, n)), visible))
        outputs.append((weights[-1].flatten(1, 2) @ v[:, head]).unflatten(1, (each, n)))
    return torch.cat(outputs, dim=1), torch.cat(weights, dim=1)
