"""Changes a head twice if its pair occurs twice.

Exercise: ablate_heads
Believes: Every pair occurs once.
Shows: A pair that occurs twice is not replaced by the mean.
Hint: What does your function do if a pair occurs twice?
Rejected by: test_any_iterable
Costs: 20 %
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
                usual = written[:, head]
                edited[:, head] -= usual if reference is None else usual - means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
