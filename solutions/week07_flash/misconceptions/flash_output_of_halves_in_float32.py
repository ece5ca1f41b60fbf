"""Returns the output in float32 for inputs in half precision.

Exercise: FlashAttention
Believes: An output computed in float32 may stay there.
Shows: Wrong type for float16 and bfloat16; float32 and float64 are right.
Hint: Computing in a wider type is fine. Which type does the docstring promise for the output?
Rejected by: test_float_types
Costs: 15 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output
