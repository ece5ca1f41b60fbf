"""Returns the merged heads without sending them through W_o.

Exercise: MultiHeadAttention
Believes: concatenating the heads finishes the job.
Shows: the outputs of the heads are never mixed with each other.
Hint: Which of your four layers has no effect on the output? See the last step of §3.2.2.
Rejected by: test_self_attention
Costs: 30 %
Belief: no_output_projection
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
        weights = _masked_softmax(scores, mask)
        return merge_heads(weights @ v), weights
