"""Returns (t, H_kv, d).

Exercise: PagedCache
Believes: Positions come first, as in a page.
Shows: Heads and positions change places.
Hint: Which shape has what was appended? The result has the same axes.
Rejected by: test_what_was_appended
Costs: 30 %
"""


class PagedCache(PagedCache):
    def gather(self, seq):
        keys, values = super().gather(seq)
        return keys.transpose(0, 1), values.transpose(0, 1)
