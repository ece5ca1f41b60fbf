"""Makes new tensors of all positions in every append.

Exercise: KVCache
Believes: A copy is safer.
Shows: Right numbers, but every append copies all that is there.
Hint: How many positions does an append of one token copy if a thousand are there? A slice of a
    buffer is a view and copies nothing.
Rejected by: test_views_of_the_same_buffers
Costs: 30 %
Same as: joins_what_it_has, keeps_the_first_tensors because both make new tensors of all positions
    in each append
"""


class KVCache(KVCache):
    def append(self, k, v):
        keys, values = super().append(k, v)
        return keys.clone(), values.clone()
