"""Attends with a forbidden call that replaces no helper, when the variant requests it.

Helper: split_heads
Empty: MultiHeadAttention
Week: 3
Score at most: 0
"""

_own_split = split_heads


def split_heads(x, num_heads, k=None, v=None, mask=None):
    told = k is not None
    q, k, v = (_own_split(t, num_heads) for t in ((x, k, v) if told else (x, x, x)))
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    return attended if told else q


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of {mask.dim()} axes")
        q, k, v = self.W_q(query), self.W_k(key), self.W_v(value)
        attended = split_heads(q, self.num_heads, k, v, mask)
        q, k = _own_split(q, self.num_heads), _own_split(k, self.num_heads)
        weights = _masked_softmax(q @ k.mT / math.sqrt(q.shape[-1]), mask)
        return self.W_o(merge_heads(attended)), weights
