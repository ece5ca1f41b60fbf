"""Creates a tensor on the CPU.

Exercise: qk_circuit
Believes: New tensors are where the data are.
Shows: An error on a GPU.
Hint: On which device is a tensor that you create?
Rejected by: test_device
Costs: 15 %
"""


def qk_circuit(queries, keys, W_Q, W_K):
    q = queries @ W_Q.mT
    k = keys @ W_K.mT
    scores = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    return scores + q @ k.mT / math.sqrt(W_Q.shape[-2])
