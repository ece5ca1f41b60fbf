"""Refuses without a number in the message.

Exercise: KVCache
Believes: "The cache is full" says it all.
Shows: The message contains neither the new nor the resulting number of positions.
Hint: A reader of the error wants to know by how much. Which numbers do you know at this point?
Rejected by: test_refuses_what_does_not_fit
Costs: 15 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        if self.length + k.shape[2] > self.keys.shape[2]:
            raise ValueError("the cache is full")
        return super().append(k, v)
