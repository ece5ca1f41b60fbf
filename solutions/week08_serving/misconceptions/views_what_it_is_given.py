"""Reshapes the input by `view`.

Exercise: PagedCache
Believes: view and reshape are the same.
Shows: An error for keys that are a transposed view.
Hint: `view` needs numbers that lie in order; after a transpose they do not.
Rejected by: test_views_may_be_appended
Costs: 20 %
"""


class PagedCache(PagedCache):
    def append(self, seq, k, v):
        super().append(seq, k.view(-1).view(k.shape), v.view(-1).view(v.shape))
