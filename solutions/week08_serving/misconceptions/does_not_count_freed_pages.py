"""Gives the pages back, and does not count them.

Exercise: PagedCache
Believes: `free_pages` is brought up to date by `append`.
Shows: `free_pages` is too small until the next append.
Hint: Who looks at `free_pages` right after `free`? What does it say?
Rejected by: test_pages_are_given_back
Costs: 20 %
"""


class PagedCache(PagedCache):
    def free(self, seq: Hashable) -> None:
        self._free += self._pages.pop(seq)
        del self._lengths[seq]
