"""Uses the names of sequences as numbers.

Exercise: PagedCache
Believes: Sequences are numbered from 0.
Shows: An error for a name that is not a small number.
Hint: Any hashable may be a name. Which container takes those as keys?
Rejected by: test_names
Costs: 20 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        range(10**6)[seq]
        super().append(seq, k, v)
