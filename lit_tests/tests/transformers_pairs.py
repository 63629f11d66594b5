"""Writes small encoder-decoders with random weights, and what `transformers` makes of them.

Each has a folder with `config.json`, `generation_config.json`, `model.safetensors`, `source` (300 ids of a text that is read),
`tokens` (100 ids of a sequence behind it), `pair_logits` (f32, a row for each of `tokens`, behind the first 1, 17, 255 and 300
ids of `source`, one text after the other) and `generated` (64 ids, each the most likely one, behind the first 17 of
`source`).
"""

import copy

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

T5 = dict(
    vocab_size=97, d_model=48, d_kv=8, d_ff=80, num_layers=4, num_decoder_layers=3, num_heads=6, pad_token_id=0,
    decoder_start_token_id=0, eos_token_id=None,
)

BART = dict(
    vocab_size=97, d_model=48, encoder_layers=4, decoder_layers=3, encoder_attention_heads=6, decoder_attention_heads=4,
    encoder_ffn_dim=80, decoder_ffn_dim=72, max_position_embeddings=512, pad_token_id=1, decoder_start_token_id=2,
    eos_token_id=None, forced_eos_token_id=None,
)

# Family, variant, what its configuration says.
PAIRS = [
    ("t5", "plain", T5),
    ("t5", "gated", dict(T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    ("t5", "wide heads", dict(
        T5, d_kv=12, num_decoder_layers=None, relative_attention_num_buckets=16, relative_attention_max_distance=50)),
    ("t5", "own head", dict(T5, feed_forward_proj="gated-silu", tie_word_embeddings=False)),
    ("bart", "plain", BART),
    ("bart", "forced", dict(BART, forced_eos_token_id=7)),
    ("bart", "scaled", dict(BART, scale_embedding=True, activation_function="gelu_new")),
    ("bart", "own head", BART),
    ("mbart", "plain", BART),
    ("mbart", "scaled", dict(BART, scale_embedding=True, activation_function="relu")),
    ("pegasus", "plain", BART),
    ("pegasus", "scaled", dict(BART, scale_embedding=True, activation_function="silu")),
]
# The first token that is drawn, whatever its logit.
FORCED = {("bart", "forced"): 5, ("mbart", "scaled"): 96}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LENGTHS = [1, 17, 255, 300]


def model_of(family, variant, more):
    config = AutoConfig.for_model(family, **more)
    model = AutoModelForSeq2SeqLM.from_config(config, attn_implementation="eager").eval()
    if variant == "own head":
        # A file of an older release, whose head is no table of embeddings.
        config.tie_word_embeddings = False
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 1.2 / parameter.shape[-1] ** 0.5)
            else:
                parameter.add_(0.2 * torch.randn_like(parameter))
        if family == "t5":
            scale_queries(model)
        for bias in logit_biases(model):
            bias.normal_(0.0, 0.2)
    return model


def scale_queries(model):
    """Scores of T5 are not divided by the root of the width of heads, which is in the weights instead."""
    for name, parameter in model.named_parameters():
        if name.endswith(".q.weight"):
            parameter.mul_(model.config.d_kv ** -0.5)


def logit_biases(model):
    return [own for name, own in model.named_buffers() if name == "final_logits_bias"]


def logits(own, model):
    """Writes a drawn text, a drawn sequence and the logits of this into the folder `own`; returns the text."""
    vocab = model.config.vocab_size
    source, tokens = torch.randint(0, vocab, (1, 300)), torch.randint(0, vocab, (1, 100))
    rows = []
    with torch.no_grad():
        for length in LENGTHS:
            text = source[:, :length]
            out = model(input_ids=text, attention_mask=torch.ones_like(text), decoder_input_ids=tokens)
            rows.append(out.logits[0].flatten())
    (own / "source").write_text(",".join(map(str, source[0].tolist())))
    (own / "tokens").write_text(",".join(map(str, tokens[0].tolist())))
    (own / "pair_logits").write_bytes(torch.cat(rows).contiguous().numpy().tobytes())
    return source


def write(folder, first):
    listed = []
    for family, variant, more in PAIRS:
        for name, dtype in DTYPES.items():
            # Narrow weights differ from others in how they are read alone, which one variant shows.
            if name != "fp32" and variant != "plain":
                continue
            number = first + len(listed)
            torch.manual_seed(number)
            model = model_of(family, variant, more)
            model.generation_config.forced_bos_token_id = FORCED.get((family, variant))
            # Weights alone are narrow.
            with torch.no_grad():
                for parameter in [*model.parameters(), *logit_biases(model)]:
                    parameter.copy_(parameter.to(dtype).to(torch.float32))
            own = folder / str(number)
            own.mkdir()
            copy.deepcopy(model).to(dtype).save_pretrained(own)
            source = logits(own, model)[:, :17]
            with torch.no_grad():
                generated = model.generate(
                    source, attention_mask=torch.ones_like(source), max_new_tokens=64, min_new_tokens=64, do_sample=False,
                    num_beams=1)
            (own / "generated").write_text(",".join(map(str, generated[0, 1:].tolist())))
            listed.append((family, variant, name))
    return listed
