"""Cuts and joins the heads by reshape alone, so that each head is a run of whole tokens.

Exercise: MultiHeadAttention
Believes: two reshapes that undo each other cannot do harm.
Shows: shape, row sums and causality all look right, yet tokens of different heads never meet.
Hint: Two reshapes cancel only if nothing happens between them. Which tokens can head 0 see in your version?
Rejected by: test_self_attention
Costs: 40 %
Belief: heads_by_view
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of shape {tuple(mask.shape)} has {mask.dim()} dimensions")
        batch, _, width = query.shape
        size = width // self.num_heads
        q = self.W_q(query).reshape(batch, self.num_heads, -1, size)
        k = self.W_k(key).reshape(batch, self.num_heads, -1, size)
        v = self.W_v(value).reshape(batch, self.num_heads, -1, size)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        return self.W_o((weights @ v).reshape(query.shape)), weights
