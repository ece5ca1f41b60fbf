"""Takes the tensors out of the graph, for instance to NumPy and back.

Exercise: keras_attention
Believes: keras.ops.convert_to_numpy is part of keras.ops, so nothing is lost.
Shows: right values without gradients: a NumPy array keeps no graph.
Hint: Which of your steps could a backend not differentiate, or not run on its own device?
Rejected by: test_gradients
Costs: 40 %
"""

_right_keras_attention = keras_attention


def keras_attention(q, k, v, mask=None):
    from keras import ops

    dtype = str(q.dtype).split(".")[-1]
    arrays = [ops.convert_to_numpy(ops.cast(t, "float32")) for t in (q, k, v)]
    output, weights = _right_keras_attention(*map(ops.convert_to_tensor, arrays), mask)
    return ops.cast(output, dtype), ops.cast(weights, dtype)
