"""Expects at least one head.

Exercise: ablate_heads
Believes: There is always a head to ablate.
Shows: An error if there are no heads.
Hint: Call your function with an empty list.
Rejected by: test_no_heads
Costs: 20 %
"""


def ablate_heads(model, ids, heads, reference=None):
    heads = list(heads)
    for layer, head in heads:
        if not 0 <= layer < model.n_layers:
            raise ValueError(f"layer {layer}")
        if not 0 <= head < model.n_heads:
            raise ValueError(f"head {head}")
    _last, _ = heads[-1]
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
            model(reference, record)
        return model(ids, ablate)
