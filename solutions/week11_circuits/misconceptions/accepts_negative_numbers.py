"""Accepts negative numbers.

Exercise: ablate_heads
Believes: Negative numbers count from the end.
Shows: No error for head -4.
Hint: Which numbers does the docstring allow?
Rejected by: test_refuses_other_heads
Costs: 15 %
"""


def ablate_heads(model, ids, heads, reference=None):
    heads = list(heads)
    for layer, head in heads:
        if layer >= model.n_layers:
            raise ValueError(f"layer {layer}")
        if head >= model.n_heads:
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
            model(reference, record)
        return model(ids, ablate)
