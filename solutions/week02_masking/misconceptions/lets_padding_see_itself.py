"""Always lets a token see itself, padding included, so that no row is ever empty.

Exercise: combine_masks
Believes: empty rows must be avoided, or the softmax gives NaN.
Shows: True on the diagonal where the padding mask says False.
Hint: A good trick where the softmax can't handle empty rows; yours can. May padding be attended
    to, even by padding?
Rejected by: test_padding_hides_keys
Costs: 30 %
"""


def combine_masks(causal, padding):
    itself = torch.eye(causal.shape[-1], dtype=torch.bool, device=causal.device)
    return (causal & padding[:, None, None, :]) | itself
