"""Assumes a key-value head for each query head.

Exercise: load_weights
Believes: n_kv_heads is n_heads.
Shows: An error: W_k has another shape.
Hint: How wide is W_k in the file? How many heads is that?
Rejected by: test_logits
Costs: 35 %
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
    n_kv_heads = n_heads
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights)
    return model
