"""Fills the pool with zeros when a sequence is freed.

Exercise: PagedCache
Believes: What is freed should be clean.
Shows: All other sequences lose their contents.
Hint: Other sequences' pages must not be cleared. Does anyone read a page before it is written?
Rejected by: test_other_sequences_stay_when_one_is_freed
Costs: 30 %
"""


class PagedCache(PagedCache):
    def free(self, seq):
        super().free(seq)
        self.keys.zero_(), self.values.zero_()
