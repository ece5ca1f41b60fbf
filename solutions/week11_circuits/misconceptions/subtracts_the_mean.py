"""Subtracts the mean from what the head writes.

Exercise: ablate_heads
Believes: Mean ablation removes the mean.
Shows: What is left is the deviation from the mean.
Hint: Does the ablated head still depend on the tokens that the model reads?
Rejected by: test_mean
Costs: 30 %
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
                edited[:, head] = 0 if reference is None else edited[:, head] - means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
