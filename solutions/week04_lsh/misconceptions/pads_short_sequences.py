"""Accepts a length that is not divisible by bucket_size.

Exercise: LSHAttention
Believes: Padding helps the caller.
Shows: Returns a result instead of raising an error, and the padding takes part in the
    attention.
Hint: What does the Raises section require if T is not divisible by bucket_size?
Rejected by: test_refuses_a_length_that_leaves_a_remainder
Costs: 15 %
Belief: length_not_checked
"""


class LSHAttention(LSHAttention):
    def forward(self, x, rotations=None, generator=None):
        missing = -x.shape[1] % self.bucket_size
        return super().forward(nn.functional.pad(x, (0, 0, 0, missing)), rotations, generator)[
            :, : x.shape[1]
        ]
