"""Returns only the last position's output if there is a cache.

Exercise: GroupedQueryAttention
Believes: Only the last position's logits are needed to go on.
Shows: (B, 1, C) for a prompt.
Hint: The next layer needs all positions of the prompt: its cache is filled from them.
Rejected by: test_prefill_and_decode
Costs: 30 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        output = super().forward(x, cache)
        return output if cache is None else output[:, -1:]
