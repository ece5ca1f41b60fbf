"""Raises if causal; the module omits the flag, and calls it again only to raise.

Helper: lsh_attention
Empty: LSHAttention
Week: 4
Score at most: 2.56
"""

_sees_everything = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    if causal:
        raise RuntimeError("no")
    return _sees_everything(qk, v, rotations, bucket_size)


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        was, self.causal = self.causal, False
        try:
            y = super().forward(x, rotations, generator)
        finally:
            self.causal = was
        if was:
            lsh_attention(None, None, None, 2, causal=True)
        return y
