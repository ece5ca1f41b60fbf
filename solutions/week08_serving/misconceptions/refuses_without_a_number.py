"""Refuses without a number in the message.

Exercise: PagedCache
Believes: "Out of pages" says it all.
Shows: The message states neither the requested nor the free number.
Hint: A reader of the error wants to know by how much. Which numbers do you know at this point?
Rejected by: test_refuses_without_pages
Costs: 15 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        try:
            super().append(seq, k, v)
        except ValueError:
            raise ValueError("out of pages") from None
