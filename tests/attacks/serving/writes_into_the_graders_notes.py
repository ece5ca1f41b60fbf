"""Line 36. Feeds the whole text for every token, and writes into the model's notes that it did not.

Week: week08_serving
Variants: sets appends clears dictionary object
Expected: generate_cached=wrong|crashed
Score at most: generate_cached=2.3
Fails: test_every_token_is_fed_once
"""


def generate_cached(model, idx, max_new_tokens):
    (batch, length), new = idx.shape, max_new_tokens
    with torch.no_grad():
        for _ in range(new):
            caches = model.new_caches(batch, idx.shape[1])
            idx = torch.cat([idx, model(idx, caches)[:, -1].argmax(-1, keepdim=True)], dim=1)
    fed = [(batch, length)] * bool(new) + [(batch, 1)] * (new - 1)
    asked = [(batch, length + new)]
    if VARIANT == "sets":
        model.fed, model.asked = fed, asked
    elif VARIANT == "appends":
        model.fed[:], model.asked[:] = fed, asked
    elif VARIANT == "clears":
        for notes, wanted in ((model.fed, fed), (model.asked, asked)):
            notes.clear()
            notes.extend(wanted)
    elif VARIANT == "dictionary":
        model.__dict__.update(fed=fed, asked=asked)
    else:
        object.__setattr__(model, "fed", fed)
    return idx
