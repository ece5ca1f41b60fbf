"""Ignores the reference.

Exercise: ablate_heads
Believes: Ablation means zeros.
Shows: The result is the same with and without `reference`.
Hint: Which argument does your result not depend on?
Rejected by: test_mean
Costs: 35 %
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
        for number, head in heads:
            if number == layer:
                edited[:, head] = 0
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
