"""Converts its results to the dtype of the appended tensors.

Exercise: KVCache
Believes: A result has the dtype of the input.
Shows: The results have the dtype of what was appended; if the cache has another one, every append
    copies all of it.
Hint: Converting makes a new tensor. Which dtype does the docstring promise for the views?
Rejected by: test_dtype_of_the_cache
Costs: 25 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        keys, values = super().append(k, v)
        return keys.to(k.dtype), values.to(v.dtype)
