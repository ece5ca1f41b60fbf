"""Keeps its sizes where the next module replaces them.

Exercise: LSHAttention
Believes: constructor arguments can be stored on the class.
Shows: a module changes its sizes when another one is built.
Hint: Build two modules of different sizes, then call the first. Whose sizes does it use?
Rejected by: test_two_objects
Costs: 20 %
"""

_LSHAttention = LSHAttention


class LSHAttention(_LSHAttention):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__(d_model, num_heads, bucket_size, n_hashes, causal)
        LSHAttention.num_heads = vars(self).pop("num_heads")
        LSHAttention.bucket_size = vars(self).pop("bucket_size")
        LSHAttention.n_hashes = vars(self).pop("n_hashes")
        LSHAttention.causal = vars(self).pop("causal")
