"""Makes one layer fewer than the file has, and ignores its weights.

Exercise: load_weights
Believes: The number of the last layer is the number of layers.
Shows: The last layer of the file is left out; nothing complains.
Hint: The file has the weights blocks.0 to blocks.3. How many layers has your model?
Rejected by: test_weights
Costs: 25 %
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
    n_layers = max(int(name.split(".")[1]) for name in weights if name.startswith("blocks."))
    n_heads = int(arrays["n_heads"])
    kv_width = weights["blocks.0.attn.W_k.weight"].shape[0]
    d_ff = weights["blocks.0.ff.gate.weight"].shape[0]
    n_kv_heads = kv_width // (d_model // n_heads)
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights, strict=False)
    return model
