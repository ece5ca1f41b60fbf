"""Makes four layers and ignores weights that are missing.

Exercise: load_weights
Believes: strict=False makes loading robust.
Shows: Missing layers stay random, and nobody notices.
Hint: Which error does strict=False suppress? Why would you not want to see it?
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
    n_layers = 4
    n_heads = int(arrays["n_heads"])
    kv_width = weights["blocks.0.attn.W_k.weight"].shape[0]
    d_ff = weights["blocks.0.ff.gate.weight"].shape[0]
    n_kv_heads = kv_width // (d_model // n_heads)
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights, strict=False)
    return model
