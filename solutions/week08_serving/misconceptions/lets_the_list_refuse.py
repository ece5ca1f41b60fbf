"""Lets an empty list of free pages raise.

Exercise: PagedCache
Believes: An error is an error.
Shows: IndexError instead of ValueError.
Hint: Compare what is missing with what is free before anything is taken, and raise a ValueError.
Rejected by: test_refuses_without_pages
Costs: 25 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        missing = math.ceil((self._lengths.get(seq, 0) + k.shape[1]) / self.page_size)
        for _ in range(missing - len(self._pages.get(seq, ())) - len(self._free)):
            [].pop()
        super().append(seq, k, v)
