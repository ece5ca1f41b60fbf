"""Switches the model to evaluation and leaves it there.

Exercise: sentence_attention
Believes: evaluation is the safe mode to leave a model in.
Shows: a training loop that looks at a sentence now and then goes on without dropout afterwards.
Hint: Print model.training before and after your function.
Rejected by: test_mode_is_given_back
Costs: 20 %
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
    return tokens, torch.stack(attentions).squeeze(1)
