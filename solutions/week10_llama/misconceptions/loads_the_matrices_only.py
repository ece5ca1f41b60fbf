"""Loads the matrices and leaves every norm at its initial weight.

Exercise: load_weights
Believes: Weights are matrices.
Shows: All norms of the model keep their initial weight of 1.
Hint: Which arrays of the file have one axis? Where do they go?
Rejected by: test_logits
Costs: 35 %
"""


def load_weights(path):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    weights = {
        name: torch.from_numpy(array).float()
        for name, array in arrays.items()
        if name.endswith(".weight") and array.ndim == 2
    }
    vocab_size, d_model = weights["embed.weight"].shape
    n_layers = sum(name.endswith(".attn.W_q.weight") for name in weights)
    n_heads = int(arrays["n_heads"])
    kv_width = weights["blocks.0.attn.W_k.weight"].shape[0]
    d_ff = weights["blocks.0.ff.gate.weight"].shape[0]
    n_kv_heads = kv_width // (d_model // n_heads)
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights, strict=False)
    return model
