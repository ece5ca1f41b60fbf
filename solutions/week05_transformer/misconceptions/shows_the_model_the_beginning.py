"""Shows the model the first max_len tokens of a long text.

Exercise: generate
Believes: cropping to max_len is all that matters.
Shows: right up to max_len tokens; from there on every new token is drawn from the same logits.
Hint: Which tokens matter most for the next one? Write down the slice for a text of 5 tokens and max_len = 3.
Rejected by: test_memory_of_the_model
Costs: 30 %
"""

def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, : model.max_len])[:, -1]
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
