"""Ablates all other heads.

Exercise: ablate_heads
Believes: Testing a head means running it alone.
Shows: All heads but the requested ones are missing.
Hint: What should happen if no head is requested?
Rejected by: test_one_head
Costs: 45 %
"""


def ablate_heads(model, ids, heads, reference=None):
    heads = list(heads)
    for layer, head in heads:
        if not 0 <= layer < model.n_layers:
            raise ValueError(f"layer {layer}")
        if not 0 <= head < model.n_heads:
            raise ValueError(f"head {head}")
    means = {}

    def record(layer, written):
        means[layer] = written.mean(dim=0)
        return written

    def ablate(layer, written):
        edited = written.clone()
        for head in range(written.shape[1]):
            if (layer, head) not in heads:
                edited[:, head] = 0 if reference is None else means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
