"""Returns the weights after dropout.

Exercise: CausalSelfAttention
Believes: what the model used is what should be shown.
Shows: while training, rows no longer sum to one and pictures show random holes.
Hint: Put the module in training mode with dropout 0.5 and sum the rows of the weights. Which version should the caller see?
Rejected by: test_returned_weights_are_free_of_dropout
Costs: 15 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = self.dropout(_masked_softmax(scores, causal))
        y = self.proj(merge_heads(weights @ v))
        return (y, weights) if return_weights else y
