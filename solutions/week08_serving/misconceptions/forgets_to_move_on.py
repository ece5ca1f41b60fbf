"""Never advances `length`.

Exercise: KVCache
Believes: Writing is all there is to appending.
Shows: Every append overwrites the one before, and length stays 0.
Hint: Where does the second append begin to write? Print `length` after the first.
Rejected by: test_everything_so_far
Costs: 45 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        result = super().append(k, v)
        self.length = 0
        return result
