"""Answers in float32 whatever came in.

Exercise: softmax
Believes: tensors are float32.
Shows: half precision comes back as float32, and so does double precision, with half its digits.
Hint: Compare the dtype of the result with that of the input, for torch.float64 and torch.float16.
Rejected by: test_float_types
Costs: 20 %
Belief: float_type_of_the_answer
"""


def softmax(x, dim=-1):
    exponentials = torch.exp((x - x.amax(dim=dim, keepdim=True)).float())
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
