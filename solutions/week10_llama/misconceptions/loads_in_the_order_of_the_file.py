"""Copies the arrays in the order in which the file lists them.

Exercise: load_weights
Believes: The file lists them as the state dict does.
Shows: Another order mixes up arrays of equal shape.
Hint: What happens if the file lists its arrays in reverse order?
Rejected by: test_other_arrays
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
    model.load_state_dict(dict(zip(model.state_dict(), weights.values(), strict=True)))
    return model
