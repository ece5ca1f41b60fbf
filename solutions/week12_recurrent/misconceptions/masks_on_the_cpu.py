"""Creates a tensor for the mask on the CPU.

Exercise: linear_attention
Believes: A mask is small, so it may be anywhere.
Shows: An error on a GPU.
Hint: On which device are the tensors that you create?
Rejected by: test_device
Costs: 15 %
"""

def linear_attention(q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    weights = (feature_map(q.to(wide)) @ feature_map(k.to(wide)).mT) * torch.ones(q.shape[2], q.shape[2]).tril()
    return (weights @ v.to(wide) / weights.sum(dim=-1, keepdim=True)).to(v.dtype)
