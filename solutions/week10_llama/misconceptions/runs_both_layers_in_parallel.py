"""Feeds the block's input to both layers.

Exercise: LlamaBlock
Believes: The two layers work side by side, as in GPT-J.
Shows: The feed-forward layer does not see what attention found.
Hint: What goes into the feed-forward layer: the block's input, or something newer?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        return x + self.attn(self.norm1(x), frequencies, cache) + self.ff(self.norm2(x))
