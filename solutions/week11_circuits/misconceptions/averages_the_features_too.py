"""Averages over the features as well.

Exercise: ablate_heads
Believes: A mean is one number.
Shows: All features get the same replacement.
Hint: How many numbers does your mean of one head at one position consist of?
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
        means[layer] = written.mean(dim=(0, 3), keepdim=True)[0].expand_as(written[0])
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
