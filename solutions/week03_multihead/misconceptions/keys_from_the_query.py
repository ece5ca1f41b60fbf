"""Makes the keys from the query, whatever the key argument is.

Exercise: MultiHeadAttention
Believes: queries and keys are always made from the same sequence.
Shows: right for self-attention; another memory is ignored or does not fit.
Hint: In cross-attention the keys come from the other sequence. Change the key argument: do your weights change?
Rejected by: test_three_different_inputs
Costs: 30 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of shape {tuple(mask.shape)} has {mask.dim()} dimensions")
        q = split_heads(self.W_q(query), self.num_heads)
        k = split_heads(self.W_k(query), self.num_heads)
        v = split_heads(self.W_v(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
