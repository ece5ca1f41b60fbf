"""Counts the positions in the module.

Exercise: LlamaAttention
Believes: A layer sees one sequence, from its beginning to its end.
Shows: A second sequence continues the first one.
Hint: Two sequences are generated in turn with one model. Where does each of them store its
  length?
Rejected by: test_each_cache_is_a_sequence
Costs: 30 %
"""

class LlamaAttention(LlamaAttention):
    def forward(self, x, frequencies, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        start = 0 if cache is None else getattr(self, "seen", 0)
        if cache is not None:
            self.seen = start + x.shape[1]
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies, start)
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        query_position = query_position - start + k.shape[2] - x.shape[1]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
