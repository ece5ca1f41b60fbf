"""Restores the model only if it raises no exception.

Exercise: sentence_attention
Believes: the lines after the call of the model always run.
Shows: after an error, the model stays in evaluation mode with eager attention.
Hint: Which of your lines run if the model raises? Which statement runs in any case?
Rejected by: test_state_after_an_error
Costs: 15 %
"""


def sentence_attention(model, tokenizer, sentence):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(sentence)["input_ids"])
    encoded = tokenizer(sentence, return_tensors="pt").to(model.device)
    was_training, implementation = model.training, model.config._attn_implementation
    model.eval()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        attentions = model(**encoded, output_attentions=True).attentions
    model.set_attn_implementation(implementation)
    model.train(was_training)
    return tokens, torch.stack(attentions).squeeze(1)
