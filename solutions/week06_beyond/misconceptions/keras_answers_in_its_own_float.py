"""Returns float32 for every dtype of the inputs.

Exercise: keras_attention
Believes: Keras computes in float32 anyway.
Shows: half precision goes in and float32 comes out, so that all later steps run in float32 too.
Hint: Which dtype should the results have, independent of the dtype of the computation?
Rejected by: test_half_precision
Costs: 20 %
"""

_right_keras_attention = keras_attention


def keras_attention(q, k, v, mask=None):
    from keras import ops

    return _right_keras_attention(*(ops.cast(t, "float32") for t in (q, k, v)), mask)
