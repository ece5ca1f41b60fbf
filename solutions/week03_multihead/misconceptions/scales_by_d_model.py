"""Divides the scores by √d_model.

Exercise: MultiHeadAttention
Believes: the d under the root is the width of the model.
Shows: every head's weights are flatter than they should be, by a factor √H in the scores.
Hint: How many products are summed in one entry of q·k, now that q and k have been cut into heads?
Rejected by: test_self_attention
Costs: 30 %
Belief: scale_by_the_whole_width
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
        scores = q @ k.transpose(-2, -1) / math.sqrt(query.shape[-1])
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
