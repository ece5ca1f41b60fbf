"""Creates a tensor on the CPU, wherever x is.

Exercise: CausalSelfAttention
Believes: torch moves tensors to where they are needed.
Shows: right on the CPU; on a GPU the mask and the scores are on two devices, which is an error.
Hint: Which argument sets the device of a new tensor, and which device should it be?
Rejected by: test_device
Costs: 15 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
