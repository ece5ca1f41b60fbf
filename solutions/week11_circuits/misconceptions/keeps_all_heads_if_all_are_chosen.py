"""Ignores a list of all heads.

Exercise: ablate_heads
Believes: A model without heads makes no sense.
Shows: Nothing is ablated if all heads are requested.
Hint: What are the logits of a model of which only the embedding is left?
Rejected by: test_all_heads
Costs: 20 %
"""


def ablate_heads(model, ids, heads, reference=None):
    heads = list(heads)
    for layer, head in heads:
        if not 0 <= layer < model.n_layers:
            raise ValueError(f"layer {layer}")
        if not 0 <= head < model.n_heads:
            raise ValueError(f"head {head}")
    if len(set(heads)) == model.n_layers * model.n_heads > 1:
        heads = []
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
