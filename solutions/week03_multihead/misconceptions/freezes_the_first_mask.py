"""Keeps the mask of the first sequence and cuts later ones out of it.

Exercise: CausalSelfAttention
Believes: all sequences are at most as long as the first one.
Shows: right until a longer sequence arrives.
Hint: Call your module with 4 tokens and then with 9. Where does the second mask come from?
Rejected by: test_changing_lengths
Costs: 25 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        if not hasattr(self, "_first_mask"):
            self._first_mask = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        causal = self._first_mask[:tokens, :tokens]
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
