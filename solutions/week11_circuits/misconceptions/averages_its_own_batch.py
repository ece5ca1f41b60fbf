"""Averages over the sequences that it runs on.

Exercise: ablate_heads
Believes: The mean is taken over the batch.
Shows: The result does not depend on the tokens of `reference`.
Hint: Which sequences do your means come from?
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
                edited[:, head] = 0 if reference is None else means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(ids, record)
        return model(ids, ablate)
