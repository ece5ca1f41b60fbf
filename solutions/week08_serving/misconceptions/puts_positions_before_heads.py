"""Returns keys and values as (B, t, H_kv, d).

Exercise: KVCache
Believes: Tokens come before heads, as in the model's input.
Shows: Heads and positions change places.
Hint: Which axis of k counts positions? The shape is in the docstring of append.
Rejected by: test_everything_so_far
Costs: 35 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        keys, values = super().append(k, v)
        return keys.transpose(1, 2), values.transpose(1, 2)
