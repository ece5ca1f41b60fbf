"""Records every step for a backward pass that never comes.

Exercise: generate
Believes: gradients cost nothing where nobody asks for them.
Shows: the right tokens, but each call keeps all activations of the model until it is over.
Hint: What does torch remember while the model runs, and who tells it not to?
Rejected by: test_no_gradient_is_recorded
Costs: 15 %
"""

def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids[:, -model.max_len :])[:, -1]
        if temperature == 0:
            chosen = logits.argmax(dim=-1, keepdim=True)
        else:
            probabilities = torch.softmax(logits / temperature, dim=-1)
            chosen = torch.multinomial(probabilities, 1, generator=generator)
        ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
