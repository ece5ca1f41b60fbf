"""Leaves the edit in the model.

Exercise: ablate_heads
Believes: A model is made for one experiment.
Shows: Later runs of the model are ablated as well.
Hint: What does the model compute after your function has returned?
Rejected by: test_the_model_is_unchanged
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
            model(reference, record)
        plain = model.forward
        model.forward = lambda ids, edit=None: plain(ids, edit or ablate)
        return plain(ids, ablate)
