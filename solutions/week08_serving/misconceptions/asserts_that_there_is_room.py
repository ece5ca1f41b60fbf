"""Uses `assert`.

Exercise: KVCache
Believes: assert is how one checks arguments.
Shows: AssertionError instead of ValueError, and nothing with `python -O`.
Hint: assert is for what cannot happen. A full cache can: raise a ValueError.
Rejected by: test_refuses_what_does_not_fit
Costs: 20 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        assert self.length + k.shape[2] <= self.keys.shape[2], f"{k.shape[2]} positions"
        return super().append(k, v)
