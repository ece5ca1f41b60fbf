"""Returns float32 for every dtype of the input.

Exercise: softmax
Believes: tensors are float32.
Shows: returns float32 for half precision and, with half the digits, for double precision.
Hint: Compare the dtype of the result with that of the input, for torch.float64 and torch.float16.
Rejected by: test_float_types
Costs: 20 %
Belief: float_type_of_the_answer
"""


def softmax(x, dim=-1):
    exponentials = torch.exp((x - x.amax(dim=dim, keepdim=True)).float())
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
