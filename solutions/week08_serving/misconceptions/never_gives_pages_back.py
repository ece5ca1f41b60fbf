"""Forgets a freed sequence and keeps its pages.

Exercise: PagedCache
Believes: Python frees unused objects.
Shows: free_pages stays low, and the pool is soon used up.
Hint: Who holds the numbers of the freed pages now?
Rejected by: test_pages_are_given_back
Costs: 30 %
"""


class PagedCache(PagedCache):
    def free(self, seq):
        self._pages.pop(seq), self._lengths.pop(seq)
