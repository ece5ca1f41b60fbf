"""Uses ln1 in front of both halves, so that ln2 has no effect.

Exercise: TransformerBlock
Believes: one LayerNorm is as good as another.
Shows: right as long as both are new, since all of them begin as ones and zeros; wrong once they are trained.
Hint: A new LayerNorm hides this. Which of your layers has parameters that never get a gradient?
Rejected by: test_gradients
Costs: 30 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.ff(self.ln1(x))
