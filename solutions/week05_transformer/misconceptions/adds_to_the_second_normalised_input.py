"""Adds what the feed-forward layer found to its normalised input.

Exercise: TransformerBlock
Believes: the input of the feed-forward layer is what its output is added to.
Shows: the size of x is lost after the attention; shapes and training look fine.
Hint: Follow x through both halves. Which tensor reaches the end without being normalised?
Rejected by: test_large_inputs_pass_through
Costs: 30 %
"""


class TransformerBlock(TransformerBlock):
    def forward(self, x):
        x = self.ln2(x + self.attn(self.ln1(x)))
        return x + self.ff(x)
