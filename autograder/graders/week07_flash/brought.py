"""What week 7 brings along (`agree.bringing`): this source is defined beside the submission."""


def two_in_a_row(first, second):
    """The outputs of two calls, as in a network of two layers: gradients come after both."""
    attention = submission.FlashAttention  # noqa: F821  # the module beside which this is defined
    return attention.apply(*first, 4, False), attention.apply(*second, 3, True)
