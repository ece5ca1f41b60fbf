"""Returns all max_len slots.

Exercise: KVCache
Believes: The rest is zero and does no harm.
Shows: Shape (B, H_kv, max_len, d); the empty places would take part in the softmax.
Hint: A key of zeros has score 0, and exp(0) is not 0. Which part of the buffer has been filled?
Rejected by: test_everything_so_far
Costs: 40 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        super().append(k, v)
        return self.keys, self.values
