"""Returns float64 for every dtype of the input.

Exercise: softmax_numpy
Believes: more precision is always welcome.
Shows: right numbers of the wrong type for float16 and float32.
Hint: Look at the dtype of the result for a float32 input. Which of your steps changed it?
Rejected by: test_float_types
Costs: 20 %
Belief: float_type_of_the_answer
"""


def softmax_numpy(x, axis=-1):
    x = np.asarray(x, dtype=np.float64)
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
