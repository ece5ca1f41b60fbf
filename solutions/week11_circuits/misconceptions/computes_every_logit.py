"""Computes the logits of all tokens.

Exercise: logit_attribution
Believes: Logits are computed first, and one is picked.
Shows: Time and memory grow with the vocabulary.
Hint: How large is your largest tensor for a vocabulary of 50,000 tokens?
Rejected by: test_cost
Costs: 30 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    logits = terms @ unembed.mT
    found = logits.gather(-1, targets.expand(terms.shape[:-1])[..., None])[..., 0]
    if others is not None:
        found = found - logits.gather(-1, others.expand(terms.shape[:-1])[..., None])[..., 0]
    return found
