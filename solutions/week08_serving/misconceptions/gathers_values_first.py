"""Gives the values back before the keys.

Exercise: PagedCache
Believes: The order of two results does not matter.
Shows: Keys and values change places.
Hint: Which of the two does the docstring name first?
Rejected by: test_what_was_appended
Costs: 20 %
"""


class PagedCache(PagedCache):
    def gather(self, seq):
        return super().gather(seq)[::-1]
