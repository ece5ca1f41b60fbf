"""Returns all slots of the pages, filled or not.

Exercise: PagedCache
Believes: A page is a page.
Shows: t is rounded up to whole pages; the rest contains zeros, or another sequence's past.
Hint: How many positions were appended? Cut there.
Rejected by: test_what_was_appended
Costs: 30 %
"""


class PagedCache(PagedCache):
    def gather(self, seq):
        length, self._lengths[seq] = self._lengths[seq], None
        result = super().gather(seq)
        self._lengths[seq] = length
        return result
