"""Refuses when the last free page would be taken.

Exercise: PagedCache
Believes: There must always be a page left.
Shows: One page of the pool is never used.
Hint: Try a pool of one page.
Rejected by: test_filled_to_the_last_place
Costs: 20 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        missing = math.ceil((self._lengths.get(seq, 0) + k.shape[1]) / self.page_size)
        missing -= len(self._pages.get(seq, []))
        if missing and missing >= self.free_pages:
            raise ValueError(f"{missing} more pages are needed, and {self.free_pages} are free")
        super().append(seq, k, v)
