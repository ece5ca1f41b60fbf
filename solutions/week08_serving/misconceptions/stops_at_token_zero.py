"""Stops as soon as one sequence writes token 0.

Exercise: generate_cached
Believes: Token 0 ends a text.
Shows: Fewer tokens than asked for.
Hint: The vocabulary defines the token that ends a text, and here it defines none.
Rejected by: test_no_token_ends_the_text
Costs: 20 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            if bool((fed == 0).any()):
                break
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
