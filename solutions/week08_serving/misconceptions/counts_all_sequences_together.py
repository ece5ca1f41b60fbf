"""Does not keep the sequences apart.

Exercise: PagedCache
Believes: The cache has a length.
Shows: Right for a single sequence; two of them get each other's places.
Hint: Each sequence has a different number of positions.
Rejected by: test_sequences_side_by_side
Costs: 40 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        super().append("all", k, v)

    def gather(self, seq):
        return super().gather("all")

    def free(self, seq):
        super().free("all")
