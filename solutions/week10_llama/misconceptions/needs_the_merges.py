"""Takes the size of the vocabulary from the merges.

Exercise: load_weights
Believes: A vocabulary is 256 bytes and the merges.
Shows: An error if the merges are missing or do not belong to the embedding.
Hint: Which weight has a row for each token?
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
    vocab_size, d_model = 256 + len(arrays["merges"]), weights["norm.weight"].shape[0]
    n_layers = sum(name.endswith(".norm1.weight") for name in weights)
    n_heads = int(arrays["n_heads"])
    kv_width = weights["blocks.0.attn.W_k.weight"].shape[0]
    d_ff = weights["blocks.0.ff.gate.weight"].shape[0]
    n_kv_heads = kv_width // (d_model // n_heads)
    model = Llama(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers)
    model.load_state_dict(weights)
    return model
