"""Returns the new tokens without the prompt.

Exercise: generate
Believes: a continuation begins after the prompt.
Shows: the new tokens are right, but the result is as long as max_new_tokens.
Hint: Compare the length of your result with the shape that the docstring promises.
Rejected by: test_the_prompt_comes_first
Costs: 20 %
"""


def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.max_len :])[:, -1]
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids[:, prompt.shape[1] :]
