"""Writes small encoders with random weights, and what `transformers` makes of them.

Each has a folder with `config.json`, `model.safetensors`, `tokens` (300 ids), `hidden` (f32, the vectors of the first 1, 17,
255 and 300 of them, one text after the other) and, with a pooler, `pooled` (a vector for each of these texts).
"""

import json

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM

SIZES = dict(
    vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=4, num_attention_heads=6,
    max_position_embeddings=512, pad_token_id=None, bos_token_id=None, eos_token_id=None, attn_implementation="eager",
)
ROBERTA = dict(pad_token_id=1, max_position_embeddings=514, type_vocab_size=1)
DISTILBERT = dict(dim=48, hidden_dim=80, n_layers=4, n_heads=6)
MODERNBERT = dict(cls_token_id=None, sep_token_id=None, local_attention=40)
BIASES = dict(attention_bias=True, mlp_bias=True, norm_bias=True)

# Family, variant, how it is made, what its configuration says besides sizes.
ENCODERS = [
    ("bert", "plain", AutoModel, {}),
    ("bert", "no pooler", None, {}),
    ("bert", "with a head", AutoModelForMaskedLM, dict(hidden_act="gelu_new")),
    ("roberta", "plain", AutoModel, ROBERTA),
    ("roberta", "no pooler", None, ROBERTA),
    ("xlm-roberta", "plain", AutoModel, ROBERTA),
    ("camembert", "plain", AutoModel, ROBERTA),
    ("distilbert", "plain", AutoModel, DISTILBERT),
    ("distilbert", "with a head", AutoModelForMaskedLM, DISTILBERT),
    ("modernbert", "plain", AutoModel, MODERNBERT),
    ("modernbert", "biases", AutoModel, {**MODERNBERT, **BIASES}),
    ("modernbert", "with a head", AutoModelForMaskedLM, dict(MODERNBERT, global_attn_every_n_layers=2)),
    ("nomic_bert", "plain", AutoModel, dict(type_vocab_size=3, pad_token_id=0)),
]
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LENGTHS = [1, 17, 255, 300]


def model_of(family, kind, more):
    config = AutoConfig.for_model(family, **{**SIZES, **more})
    if kind is None:
        model = AutoModel.from_config(config, attn_implementation="eager", add_pooling_layer=False)
    else:
        model = kind.from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 1.2 / parameter.shape[-1] ** 0.5)
            else:
                parameter.add_(0.2 * torch.randn_like(parameter))
    return model.eval()


def outputs(own, model):
    """Writes what `model` makes of a drawn text into the folder `own`."""
    tokens = torch.randint(0, model.config.vocab_size, (1, 300))
    hidden, pooled = [], []
    for length in LENGTHS:
        with torch.no_grad():
            out = model.base_model(tokens[:, :length])
        hidden.append(out.last_hidden_state[0].flatten())
        if getattr(out, "pooler_output", None) is not None:
            pooled.append(out.pooler_output[0])
    (own / "tokens").write_text(",".join(map(str, tokens[0].tolist())))
    (own / "hidden").write_bytes(torch.cat(hidden).contiguous().numpy().tobytes())
    if pooled:
        (own / "pooled").write_bytes(torch.cat(pooled).contiguous().numpy().tobytes())


def write(folder, first):
    listed = []
    for family, variant, kind, more in ENCODERS:
        for name, dtype in DTYPES.items():
            # Narrow weights differ from others in how they are read alone, which one variant shows.
            if name != "fp32" and variant != "plain":
                continue
            number = first + len(listed)
            torch.manual_seed(number)
            model = model_of(family, kind, more)
            # Weights alone are narrow: what is computed from the configuration stays as it is.
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter.to(dtype).to(torch.float32))
            own = folder / str(number)
            own.mkdir()
            state = {key: value.to(dtype).clone().contiguous() for key, value in model.state_dict().items()}
            if family == "nomic_bert":
                # Its files have other names and shapes of tensors than modules.
                model.save_pretrained(own, state_dict=state)
            else:
                save_file(state, own / "model.safetensors")
            (own / "config.json").write_text(json.dumps(model.config.to_dict(), default=str))
            outputs(own, model)
            listed.append((family, variant, name))
    return listed
