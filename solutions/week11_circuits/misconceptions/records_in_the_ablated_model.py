"""Records the means while heads are ablated.

Exercise: ablate_heads
Believes: The means belong to the model that runs.
Shows: Means of later layers are those of a changed model.
Hint: Which heads are replaced while you record?
Rejected by: test_means_of_the_unchanged_model
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
        return ablate(layer, written)

    def ablate(layer, written):
        edited = written.clone()
        for number, head in heads:
            if number == layer:
                edited[:, head] = 0 if reference is None else means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
