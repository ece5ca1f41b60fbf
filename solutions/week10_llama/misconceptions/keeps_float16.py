"""Returns a float16 model.

Exercise: load_weights
Believes: The weights are float16, so the model is too.
Shows: Slow and imprecise on a CPU, and training fails.
Hint: What is the dtype of your model's parameters?
Rejected by: test_weights
Costs: 30 %
"""

def load_weights(path):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    weights = {
        name: torch.from_numpy(array).float()
        for name, array in arrays.items()
        if name.endswith(".weight")
    }
    vocab_size, d_model = weights["embed.weight"].shape
    n_layers = sum(name.endswith(".norm1.weight") for name in weights)
    n_heads = int(arrays["n_heads"])
    kv_width = weights["blocks.0.attn.W_k.weight"].shape[0]
    d_ff = weights["blocks.0.ff.gate.weight"].shape[0]
    n_kv_heads = kv_width // (d_model // n_heads)
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights)
    return model.half()
