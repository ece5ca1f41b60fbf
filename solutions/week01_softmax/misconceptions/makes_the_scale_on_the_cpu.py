"""Creates a tensor on the CPU, wherever the inputs are.

Exercise: scaled_dot_product_attention
Believes: a tensor made in the function lives where the inputs live.
Shows: right on the CPU; an error about two devices on a GPU.
Hint: On which device does torch create a tensor by default? Which of your tensors are created that
way, and do they have to be tensors?
Rejected by: test_device
Costs: 15 %
"""


def scaled_dot_product_attention(q, k, v):
    scale = torch.full((k.shape[-2],), 1 / math.sqrt(q.shape[-1]), dtype=q.dtype)
    weights = softmax(q @ k.transpose(-2, -1) * scale)
    return weights @ v, weights
