"""Normalises the output of each layer.

Exercise: LlamaBlock
Believes: A norm belongs behind a layer.
Shows: Wrong outputs with trained weights.
Hint: What goes into the attention: x, or something else?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = x + self.norm1(self.attn(x, frequencies, cache))
        return x + self.norm2(self.ff(x))
