"""Switches the model to eager attention and leaves it there.

Exercise: sentence_attention
Believes: eager attention gives the same results, so leaving it on does no harm.
Shows: the model takes more time and memory afterwards.
Hint: Which attention implementation did the model have when it came, and which when you were done?
Rejected by: test_attention_is_given_back
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
    model.train(was_training)
    return tokens, torch.stack(attentions).squeeze(1)
