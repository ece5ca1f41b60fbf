"""Reads one digit of each layer's number.

Exercise: load_weights
Believes: The number of a layer is name[7].
Shows: Models of more than ten layers do not load.
Hint: What is the name of a weight in layer 11? Which part of it do you read?
Rejected by: test_many_layers
Costs: 20 %
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
    n_layers = 1 + max(int(name[7]) for name in weights if name.startswith("blocks."))
    n_heads = int(arrays["n_heads"])
    kv_width = weights["blocks.0.attn.W_k.weight"].shape[0]
    d_ff = weights["blocks.0.ff.gate.weight"].shape[0]
    n_kv_heads = kv_width // (d_model // n_heads)
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights)
    return model
