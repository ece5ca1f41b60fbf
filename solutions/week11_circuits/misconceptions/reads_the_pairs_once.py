"""Iterates over `heads` more than once.

Exercise: ablate_heads
Believes: `heads` is a list.
Shows: Only some of the heads are ablated if `heads` is an iterator.
Hint: How often can a generator be iterated?
Rejected by: test_any_iterable
Costs: 20 %
"""


def ablate_heads(model, ids, heads, reference=None):
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
