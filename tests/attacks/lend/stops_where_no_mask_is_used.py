"""Stops always, in an exercise that ignores its mask: the weights do not go through the helper.

Helper: merge_heads
Empty: MultiHeadAttention
Week: 3
Score at most: 2.8
"""


def merge_heads(x):
    raise RuntimeError("no heads today")


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of {mask.dim()} axes")
        return super().forward(query, key, value)
