"""Ablates the head in every layer.

Exercise: ablate_heads
Believes: A head has one number in the whole model.
Shows: More heads are missing than requested.
Hint: Which entry of the pair does your `edit` ignore?
Rejected by: test_one_head
Costs: 40 %
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
            if number >= 0:
                edited[:, head] = 0 if reference is None else means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
