"""Gives back only the full pages of a freed sequence.

Exercise: PagedCache
Believes: The length divided by the page size is the number of pages.
Shows: A last page that is partly filled is lost when its sequence ends.
Hint: A sequence of 5 positions has two pages of 4. How many are free after it ends?
Rejected by: test_a_name_starts_anew
Costs: 25 %
"""


class PagedCache(PagedCache):
    def free(self, seq):
        full = self._lengths.pop(seq) // self.page_size
        self._free += self._pages.pop(seq)[:full]
        self.free_pages = len(self._free)
