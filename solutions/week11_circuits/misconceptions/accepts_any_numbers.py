"""Accepts heads that do not exist.

Exercise: ablate_heads
Believes: Indices are checked by torch.
Shows: No error for a layer that does not exist.
Hint: What does your function do for layer 5 of a model with 2 layers?
Rejected by: test_refuses_other_heads
Costs: 20 %
"""


def ablate_heads(model, ids, heads, reference=None):
    heads = list(heads)
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
