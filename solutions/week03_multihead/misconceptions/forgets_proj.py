"""Returns the merged heads without sending them through `proj`.

Exercise: CausalSelfAttention
Believes: concatenating the heads finishes the job.
Shows: the output is independent of `proj`.
Hint: Which of your layers has no effect on the output?
Rejected by: test_values
Costs: 25 %
Belief: no_output_projection
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
        y = merge_heads(self.dropout(weights) @ v)
        return (y, weights) if return_weights else y
