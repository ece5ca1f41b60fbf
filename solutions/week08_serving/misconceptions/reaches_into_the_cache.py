"""Uses attributes of the cache other than `append` and `length`.

Exercise: GroupedQueryAttention
Believes: Every cache is built like mine.
Shows: An error with a cache that is built in another way, a paged one for example.
Hint: The docstring names the two things that may be used. `length` says where x begins.
Rejected by: test_prefill_and_decode
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        if cache is not None and cache.length + x.shape[1] > cache.keys.shape[2]:
            raise ValueError(f"{cache.length + x.shape[1]} positions do not fit")
        return super().forward(x, cache)
