"""Averages over the positions as well.

Exercise: ablate_heads
Believes: A head has one mean.
Shows: All positions get the same replacement.
Hint: How many vectors does your mean of one head consist of?
Rejected by: test_positions_keep_their_means
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
        means[layer] = written.mean(dim=(0, 2), keepdim=True)[0].expand_as(written[0])
        return written

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
