"""Writes small models of published configurations, with random weights, and the outputs of `transformers`.

Each configuration of `published.jsonl` that is read is shrunk: widths, layers, experts and the vocabulary get small, everything else
(keys and their spellings, activation, rotation, epsilon, biases, windows, caps, the dtype of weights, the classes in
`architectures`) stays as published. Both sides read the same `config.json`. The folders are those of `transformers_judge.py`.
"""

import json
import pathlib

import torch
import transformers
from transformers import GenerationConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import transformers_audio
import transformers_encoders
import transformers_images
import transformers_pairs

PUBLISHED = pathlib.Path(__file__).parents[2] / "compiler/formats/mind-irv2/tests/documents/published.jsonl"
LAYERS = 4
# The largest period of kinds of layers, and one more.
LAYERS_OF = {"gemma3_text": 7, "cohere2": 5, "smollm3": 5}
VOCAB = 97
HEADS, HEAD = 6, 8
# Of models that rotate a share of each head, so that each published share is even.
WIDE = {6: 3, 8: 40, 48: 120}
SHARES = ["partial_rotary_factor", "rotary_pct"]
# The layers of families whose encoder or decoder is written by others than a causal language model.
KINDS = {
    "bert": "encoder", "roberta": "encoder", "xlm-roberta": "encoder", "camembert": "encoder", "distilbert": "encoder",
    "modernbert": "encoder", "nomic_bert": "encoder", "t5": "pair", "bart": "pair", "mbart": "pair", "pegasus": "pair",
    "vit": "image", "whisper": "audio",
}
# Classes of repositories that bring code of their own, which `transformers` has under another name.
CLASSES = {"MPTForCausalLM": "MptForCausalLM"}
# Keys of those repositories.
KEYS_OF = {
    "nomic_bert": {
        "n_embd": "hidden_size", "n_head": "num_attention_heads", "n_layer": "num_hidden_layers", "n_inner": "intermediate_size",
        "layer_norm_epsilon": "layer_norm_eps", "max_trained_positions": "max_position_embeddings", "rotary_emb_base": "rope_theta",
    },
}
DTYPES = {"bfloat16": ("bf16", torch.bfloat16), "float16": ("fp16", torch.float16)}
SMALL = {
    **dict.fromkeys(["hidden_size", "n_embd", "n_embed", "d_model", "dim"], 48),
    **dict.fromkeys(["intermediate_size", "n_inner", "d_ff", "hidden_dim", "encoder_ffn_dim", "decoder_ffn_dim"], 80),
    **dict.fromkeys(["num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads",
                     "decoder_attention_heads"], HEADS),
    **dict.fromkeys(["head_dim", "d_kv"], HEAD),
    **dict.fromkeys(["num_experts", "num_local_experts"], 7),
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 56,
}
LAYER_COUNTS = ["num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers"]


def shrunk(config):
    """A small configuration that says the same as a published one."""
    small = dict(config)
    is_partial = any(config.get(key) not in (None, 1, 1.0) for key in SHARES)
    for key, value in SMALL.items():
        if small.get(key) is not None:
            small[key] = WIDE.get(value, value) if is_partial else value
    heads, groups = config.get("num_attention_heads"), config.get("num_key_value_heads")
    if groups is not None:
        small["num_key_value_heads"] = small["num_attention_heads"] if groups == heads else 1 if is_partial or groups == 1 else 2
    if config.get("num_experts_per_tok") is not None:
        small["num_experts_per_tok"] = min(config["num_experts_per_tok"], 3)
    for key in LAYER_COUNTS:
        if small.get(key) is not None:
            small[key] = min(small[key], LAYERS_OF.get(config["model_type"], LAYERS))
    layers = small.get("num_hidden_layers")
    for key in ["layer_types", "no_rope_layers", "mlp_only_layers"]:
        if small.get(key):
            small[key] = small[key][:layers]
    if small.get("max_window_layers") is not None:
        small["max_window_layers"] = min(small["max_window_layers"], 3)
    # Texts have 300 tokens, more than a window that is narrower than the context.
    for key in ["sliding_window", "sliding_window_size", "local_attention"]:
        if small.get(key) is not None and small[key] < small.get("max_position_embeddings", 1 << 30):
            small[key] = 40
    shrink_rotation(small)
    if config["model_type"] != "whisper":
        small["vocab_size"] = VOCAB
        for key in ["bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id",
                    "forced_eos_token_id", "cls_token_id", "sep_token_id"]:
            if isinstance(small.get(key), int) and small[key] >= VOCAB:
                small[key] %= VOCAB
    return small


def shrink_rotation(small):
    """Lists of a factor for each pair of columns get as short as the small head."""
    rotation = small.get("rope_scaling")
    if not rotation:
        return
    width = small["hidden_size"] // small["num_attention_heads"]
    pairs = int(width * small.get("partial_rotary_factor", 1)) // 2
    small["rope_scaling"] = {
        key: value[:pairs] if isinstance(value, list) else value for key, value in rotation.items()}


def model_of(config, small):
    keys = KEYS_OF.get(config["model_type"], {})
    read = {**{name: small[key] for key, name in keys.items() if key in small}, **json.loads(json.dumps(small))}
    own = CONFIG_MAPPING[config["model_type"]].from_dict(read)
    own._attn_implementation = "eager"
    kind = config["architectures"][0]
    kind = getattr(transformers, CLASSES.get(kind, kind))
    model = kind._from_config(own, dtype=torch.float32).eval()
    name, dtype = DTYPES.get(small.get("torch_dtype"), ("fp32", torch.float32))
    if config["model_type"] == "t5" and config.get("tie_word_embeddings") is False:
        # The class ties its head whatever the configuration says; published files have a head of their own.
        own.tie_word_embeddings = False
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 1.2 / parameter[0].numel() ** 0.5)
            else:
                parameter.add_(0.2 * torch.randn_like(parameter))
        if config["model_type"] == "t5":
            transformers_pairs.scale_queries(model)
        for parameter in [*model.parameters(), *transformers_pairs.logit_biases(model)]:
            parameter.copy_(parameter.to(dtype).to(torch.float32))
    return model, name, dtype


def store(own, model, dtype, small):
    # `save_pretrained` takes no generation settings out of the configuration, which a published file may have.
    model.generation_config = GenerationConfig()
    state = {key: value.to(dtype) if value.is_floating_point() else value for key, value in model.state_dict().items()}
    model.save_pretrained(own, state_dict=state)
    (own / "generation_config.json").unlink(missing_ok=True)
    (own / "config.json").write_text(json.dumps(small))


def write(folder, first, decoder):
    """Writes all models below `folder`, numbered from `first`; `decoder` writes the outputs of a causal language model."""
    writers = {
        "encoder": transformers_encoders.outputs, "pair": transformers_pairs.logits, "image": transformers_images.outputs,
        "audio": lambda own, model: transformers_audio.logits(own, model, model.config.num_mel_bins),
    }
    listed = []
    for line in PUBLISHED.read_text().splitlines():
        entry = json.loads(line)
        config = entry["config"]
        if entry["expect"] is not None:
            continue
        number = first + len(listed)
        torch.manual_seed(number)
        small = shrunk(config)
        model, name, dtype = model_of(config, small)
        own = folder / str(number)
        own.mkdir()
        store(own, model, dtype, small)
        if config["architectures"][0].endswith("ForSequenceClassification"):
            # The vectors are compared, and a warning must name the head.
            (own / "dropped").touch()
        writers.get(KINDS.get(config["model_type"]), decoder)(own, model)
        listed.append((config["model_type"], entry["name"], name))
    return listed
