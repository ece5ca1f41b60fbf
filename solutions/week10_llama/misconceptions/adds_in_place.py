"""Adds in place.

Exercise: LlamaBlock
Believes: x += saves memory.
Shows: The caller's tensor changes.
Hint: What does the caller find in x after the call?
Rejected by: test_values
Costs: 30 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        with torch.no_grad():
            x += self.attn(self.norm1(x), frequencies, cache)
        return x + self.ff(self.norm2(x))
