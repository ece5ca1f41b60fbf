"""Copies what is already there in every append.

Exercise: PagedCache
Believes: Tensors should not be changed in place.
Shows: Right results; but each token copies what came before it.
Hint: One pool is allocated at the beginning, and it is your own. What has to move when one token comes?
Rejected by: test_old_positions_are_not_copied
Costs: 35 %
Same as: joins_the_past_of_a_sequence because both make a tensor as large as what is there
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        self.keys, self.values = self.keys.clone(), self.values.clone()
        super().append(seq, k, v)
