"""Normalises after adding (post-norm).

Exercise: LlamaBlock
Believes: The paper of 2017 does it this way.
Shows: Wrong outputs with trained weights.
Hint: Where does the Llama paper put its norms: before or after a layer?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = self.norm1(x + self.attn(x, frequencies, cache))
        return self.norm2(x + self.ff(x))
