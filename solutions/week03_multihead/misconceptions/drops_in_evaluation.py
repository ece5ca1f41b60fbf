"""Keeps dropping weights in evaluation mode.

Exercise: CausalSelfAttention
Believes: F.dropout knows whether the module is training.
Shows: two evaluations of one input differ.
Hint: How does your dropout learn which mode the module is in? What does it assume if no one says?
Rejected by: test_no_dropout_in_evaluation
Costs: 20 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(torch.nn.functional.dropout(weights, self.dropout.p) @ v))
        return (y, weights) if return_weights else y
