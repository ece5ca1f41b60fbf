"""Changes the caller's weights.

Exercise: qk_circuit
Believes: The scale can be put into the weights.
Shows: An argument differs after the call.
Hint: Print the weights before and after the call.
Rejected by: test_views
Costs: 20 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    scale = math.sqrt(W_Q.shape[-2])
    W_Q = W_Q / scale if W_Q.requires_grad else W_Q.div_(scale)
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    return q @ k.mT
