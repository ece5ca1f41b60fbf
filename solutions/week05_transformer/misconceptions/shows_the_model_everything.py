"""Shows the model the whole text, also when it is longer than max_len.

Exercise: generate
Believes: the model knows what it can take.
Shows: right up to max_len tokens; then the model refuses.
Hint: How long may the model's input be? What is shown of a text that is longer?
Rejected by: test_the_prompt_comes_first
Costs: 30 %
"""


def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids)[:, -1]
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
