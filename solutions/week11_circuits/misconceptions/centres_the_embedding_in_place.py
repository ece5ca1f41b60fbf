"""Changes the embedding.

Exercise: ov_circuit
Believes: The caller does not need the embedding any more.
Shows: An argument differs after the call.
Hint: Print `embed` before and after the call.
Rejected by: test_views
Costs: 20 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    if not embed.requires_grad:
        embed.zero_()
    read = unembed @ W_O
    return values @ read.mT
