"""Keeps every block's weights for the backward pass, or leaves the backward pass to autograd.

Exercise: FlashAttention
Believes: Blocks are small, so they can be kept.
Shows: Right values and gradients; all blocks together are n x m numbers.
Hint: How many blocks are there, and how large are they together? What can be computed again from q,
    k and one number per query?
Rejected by: test_no_weights_are_kept
Costs: 45 %
"""


class FlashAttention:
    @staticmethod
    def apply(q, k, v, block_size, causal):
        return tiled_attention(q, k, v, block_size, causal)[0]
