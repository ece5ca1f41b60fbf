"""Counts free positions.

Exercise: PagedCache
Believes: Free is free.
Shows: free_pages is too large by a factor of page_size.
Hint: What would another sequence get: a place on someone's page, or a page?
Rejected by: test_pages_as_needed
Costs: 20 %
"""


class PagedCache(PagedCache):
    def __setattr__(self, name, value):
        super().__setattr__(name, value * self.page_size if name == "free_pages" else value)

    def append(self, seq, k, v):
        missing = math.ceil((self._lengths.get(seq, 0) + k.shape[1]) / self.page_size)
        if missing - len(self._pages.get(seq, [])) > len(self._free):
            raise ValueError(f"{len(self._free)} pages are free, for {k.shape[1]} positions")
        super().append(seq, k, v)
