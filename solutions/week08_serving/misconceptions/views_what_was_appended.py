"""Reshapes the input by `view`.

Exercise: KVCache
Believes: view and reshape are the same.
Shows: An error for keys that are a transposed view.
Hint: `view` needs numbers that lie in order; after a transpose they do not. Is a reshape needed at
    all?
Rejected by: test_views_may_be_appended
Costs: 20 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        shape = (-1, k.shape[2], k.shape[3])
        return super().append(k.view(shape).view(k.shape), v.view(shape).view(v.shape))
