"""Ablates only one of the requested heads in each layer.

Exercise: ablate_heads
Believes: A dict maps layers to heads.
Shows: Of two heads in a layer, only the last is ablated.
Hint: What does your function do with two pairs of the same layer?
Rejected by: test_several_heads
Costs: 25 %
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
        for number, head in dict(heads).items():
            if number == layer:
                edited[:, head] = 0 if reference is None else means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
