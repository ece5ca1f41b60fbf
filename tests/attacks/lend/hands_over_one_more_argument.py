"""Calls a slightly wrong helper in a way that only this helper accepts, and merges nothing.

Helper: split_heads
Empty: merge_heads
Week: 3
Score at most: 0.1
"""


def split_heads(x, num_heads, more=None):
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, C // num_heads).transpose(1, 2)


def merge_heads(x):
    split_heads(torch.ones(1, 2, 4), 2, more=1)
    B, H, T, d = x.shape
    return x.reshape(B, T, H * d)
