"""Hides the keys where the mask is True, with a score such as -1e9.

Exercise: grouped_query_attention
Believes: A mask says what is masked, and -1e9 is low enough.
Shows: Every query sees exactly the keys that it must not see; an error in float16.
Hint: `masked_fill` fills where its mask is True. In this course, what does True in a mask mean?
Rejected by: test_mask_of_two_dimensions
Costs: 30 %
"""


def _masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return torch.softmax(scores, dim=-1)
