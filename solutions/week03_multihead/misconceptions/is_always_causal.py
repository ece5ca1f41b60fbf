"""Never lets a query see a later key, even without a mask.

Exercise: MultiHeadAttention
Believes: attention always looks backwards.
Shows: the upper triangle of the weights is zero.
Hint: Only the caller knows which keys are hidden. What should happen where there is no mask?
Rejected by: test_self_attention
Costs: 25 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of shape {tuple(mask.shape)} has {mask.dim()} dimensions")
        q = split_heads(self.W_q(query), self.num_heads)
        k = split_heads(self.W_k(key), self.num_heads)
        v = split_heads(self.W_v(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        n, m = scores.shape[-2:]
        past = torch.ones(n, m, dtype=torch.bool, device=scores.device).tril()
        weights = _masked_softmax(scores, past if mask is None else past & mask)
        return self.W_o(merge_heads(weights @ v)), weights
