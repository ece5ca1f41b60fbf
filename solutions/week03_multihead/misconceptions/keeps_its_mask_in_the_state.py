"""Keeps its mask in the state dict, among the trained weights.

Exercise: CausalSelfAttention
Believes: what is registered is saved, and that does no harm.
Shows: weights that were saved without a mask cannot be loaded.
Hint: Print the keys of your `state_dict()`. Which arguments does `register_buffer` have after the
    name and the tensor?
Rejected by: test_values
Costs: 20 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads, dropout)
        self.register_buffer("mask", torch.ones(4096, 4096, dtype=torch.bool).tril())

    def forward(self, x, return_weights=False):
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in parts)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, self.mask[: x.shape[1], : x.shape[1]])
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
