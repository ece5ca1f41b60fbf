"""Takes several positions at once for the beginning of a text.

Exercise: KVCache
Believes: Only a prompt has more than one position.
Shows: A second piece of several positions overwrites the first.
Hint: A conversation goes on: the second question is several tokens long and follows the first
    answer.
Rejected by: test_everything_so_far
Costs: 35 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        if k.shape[2] > 1:
            self.length = 0
        return super().append(k, v)
