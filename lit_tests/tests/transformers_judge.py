"""Writes small models with random weights, and what `transformers` makes of them, into a folder.

Each model has a folder with `config.json`, `model.safetensors`, `tokens` (300 ids), `logits` (f32, a row for each
token), `exact_logits` (those of the model in double precision, f64) and `generated` (64 ids that follow the first 17 tokens, each the most likely one), or what an encoder has, see
`transformers_encoders.py`, or an encoder-decoder, see `transformers_pairs.py`, or one of
images, see `transformers_images.py`, or one that hears, see `transformers_audio.py`. Published configurations are those of
`transformers_published.py`. `models` lists the folders.
"""

import contextlib
import copy
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

# The folder of the script is part of the repository.
sys.dont_write_bytecode = True
import transformers_audio
import transformers_encoders
import transformers_images
import transformers_pairs
import transformers_published

SIZES = dict(
    vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=4, num_attention_heads=6,
    num_key_value_heads=2, max_position_embeddings=512, pad_token_id=None, bos_token_id=None, eos_token_id=None,
    attn_implementation="eager",
)
LINEAR = {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64, "rope_theta": 10000.0,
}

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "rope_theta": 10000.0}
LONGROPE = {
    "rope_type": "longrope", "short_factor": [1.0, 1.05, 1.2, 1.4], "long_factor": [1.0, 1.7, 3.5, 8.0],
    "rope_theta": 10000.0,
}

# Family, variant, what its configuration says besides sizes.
MODELS = [
    ("llama", "plain", {}),
    ("llama", "tied", dict(tie_word_embeddings=True)),
    ("llama", "biases", dict(attention_bias=True, mlp_bias=True)),
    ("llama", "linear", dict(rope_parameters=LINEAR)),
    ("llama", "llama3", dict(rope_parameters=LLAMA3)),
    ("llama", "one head a group", dict(num_key_value_heads=6)),
    ("qwen2", "plain", {}),
    ("qwen2", "window", dict(use_sliding_window=True, sliding_window=40, max_window_layers=2)),
    ("mistral", "window", dict(sliding_window=40)),
    ("mistral", "plain", dict(sliding_window=None)),
    ("qwen3", "plain", dict(head_dim=16)),
    ("phi3", "plain", {}),
    ("phi3", "window", dict(sliding_window=40)),
    ("gemma", "plain", dict(head_dim=16)),
    ("gemma2", "window", dict(head_dim=16, sliding_window=40, query_pre_attn_scalar=12)),
    ("gemma2", "no caps", dict(head_dim=16, attn_logit_softcapping=None, final_logit_softcapping=None)),
    ("gemma3_text", "window", dict(head_dim=16, sliding_window=40, num_hidden_layers=7)),
    ("granite", "multipliers", dict(
        embedding_multiplier=12.0, residual_multiplier=0.22, attention_multiplier=0.1, logits_scaling=8.0)),
    ("smollm3", "plain", {}),
    ("olmo2", "plain", {}),
    ("glm4", "plain", dict(head_dim=16)),
    ("starcoder2", "plain", {}),
    ("starcoder2", "window", dict(sliding_window=40)),
    ("stablelm", "plain", dict(num_attention_heads=3, num_key_value_heads=3)),
    ("stablelm", "biases", dict(num_attention_heads=3, num_key_value_heads=1, use_qkv_bias=True)),
    ("phi", "plain", {}),
    ("cohere", "plain", {}),
    ("cohere2", "window", dict(sliding_window=40)),
    # Families that no shipped file describes.
    ("ernie4_5", "plain", dict(head_dim=16)),
    ("ernie4_5", "biases", dict(head_dim=16, use_bias=True)),
    ("helium", "plain", dict(head_dim=8)),
    ("seed_oss", "plain", dict(head_dim=16)),
    ("arcee", "plain", {}),
    # The place of a row says its seed: new ones stand behind the others.
    ("llama", "dynamic", dict(rope_parameters={"rope_type": "dynamic", "factor": 3.0, "rope_theta": 10000.0})),
    ("qwen2", "yarn", dict(rope_parameters=YARN)),
    ("qwen3", "yarn", dict(head_dim=16, rope_parameters={
        **YARN, "beta_fast": 4, "beta_slow": 2, "truncate": False, "mscale": 0.7, "mscale_all_dim": 0.4})),
    # Sessions of the test have room for 320 tokens: more than the one, less than the other.
    ("phi3", "long factors", dict(rope_parameters=LONGROPE, original_max_position_embeddings=16)),
    ("phi3", "short factors", dict(rope_parameters=LONGROPE, original_max_position_embeddings=400)),
    ("gpt2", "plain", dict(n_embd=48, n_layer=4, n_head=6, n_positions=512)),
    ("gpt2", "widths", dict(n_embd=48, n_layer=4, n_head=6, n_positions=512, n_inner=80, activation_function="gelu")),
    ("gpt_neox", "plain", {}),
    ("gpt_neox", "no biases", dict(attention_bias=False, use_parallel_residual=False)),
    ("mixtral", "plain", {}),
    ("mixtral", "window", dict(sliding_window=40, num_local_experts=5, num_experts_per_tok=3)),
    ("mixtral", "stacked", {}),
    ("qwen2_moe", "plain", dict(
        num_experts=6, num_experts_per_tok=3, moe_intermediate_size=32, shared_expert_intermediate_size=56)),
    ("qwen2_moe", "normalised", dict(
        num_experts=8, num_experts_per_tok=2, moe_intermediate_size=32, shared_expert_intermediate_size=56,
        norm_topk_prob=True, mlp_only_layers=[1], decoder_sparse_step=1)),
    ("qwen3_moe", "plain", dict(head_dim=16, num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32)),
    ("qwen3_moe", "normalised", dict(
        head_dim=16, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=32, norm_topk_prob=True,
        decoder_sparse_step=2)),
    ("bloom", "plain", dict(n_layer=4, n_head=6)),
    ("bloom", "one slope a power", dict(n_layer=3, n_head=8)),
    ("mpt", "plain", dict(d_model=48, n_layers=4, n_heads=6, max_seq_len=512)),
    ("mpt", "scaled", dict(d_model=48, n_layers=3, n_heads=8, max_seq_len=320, attn_config={"softmax_scale": 0.5})),
]
# Keys that a family does not have.
LACKS = {
    "gpt2": ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
             "max_position_embeddings"],
    "gpt_neox": ["num_key_value_heads"],
    "bloom": ["intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "max_position_embeddings"],
    "mpt": ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
            "max_position_embeddings"],
}
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def model_of(family, more):
    sizes = {key: value for key, value in SIZES.items() if key not in LACKS.get(family, [])}
    config = AutoConfig.for_model(family, **{**sizes, **more})
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 1.2 / parameter.shape[-1] ** 0.5)
            else:
                parameter.add_(0.2 * torch.randn_like(parameter))
    return model


@contextlib.contextmanager
def double_precision():
    """Within it, parts of models that compute in `float32` whatever the type of their weights compute in `float64`."""
    single, to_single = torch.float32, torch.Tensor.float
    torch.float32, torch.Tensor.float = torch.float64, torch.Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.Tensor.float = single, to_single


def outputs(own, model):
    """Writes a drawn text, its logits and the tokens that follow its start into the folder `own`."""
    tokens = torch.randint(0, SIZES["vocab_size"], (1, 300))
    with torch.no_grad():
        logits = model(tokens).logits[0]
        generated = model.generate(
            tokens[:, :17], attention_mask=torch.ones(1, 17), max_new_tokens=64, min_new_tokens=64, do_sample=False)
    double = copy.deepcopy(model).double()
    # The default kernel of experts takes no `float64`.
    double.set_experts_implementation("eager")
    with torch.no_grad(), double_precision():
        exact = double(tokens).logits[0]
    (own / "tokens").write_text(",".join(map(str, tokens[0].tolist())))
    (own / "exact_logits").write_bytes(exact.to(torch.float64).contiguous().numpy().tobytes())
    (own / "generated").write_text(",".join(map(str, generated[0, 17:].tolist())))
    (own / "logits").write_bytes(logits.contiguous().numpy().tobytes())


def main(folder):
    torch.set_num_threads(1)
    disable_progress_bar()
    listed = []
    for family, variant, more in MODELS:
        for name, dtype in DTYPES.items():
            # Narrow weights differ from others in how they are read alone, which one variant shows.
            if name != "fp32" and any(own[0] == family for own in listed_families(listed, name)):
                continue
            torch.manual_seed(len(listed))
            model = model_of(family, more)
            # Weights alone are narrow: the frequencies of the rotation, which are no weights, stay as they are.
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter.to(dtype).to(torch.float32))
            own = folder / str(len(listed))
            own.mkdir()
            # The weights that a program has in memory, which `save_pretrained` splits and renames.
            if variant == "stacked":
                state = {key: value.to(dtype).contiguous() for key, value in model.state_dict().items()}
                save_file(state, own / "model.safetensors")
                (own / "config.json").write_text(json.dumps(model.config.to_dict(), default=str))
            else:
                copy.deepcopy(model).to(dtype).save_pretrained(own)
            outputs(own, model)
            listed.append((family, variant, name))
    listed += transformers_encoders.write(folder, len(listed))
    listed += transformers_pairs.write(folder, len(listed))
    listed += transformers_images.write(folder, len(listed))
    listed += transformers_audio.write(folder, len(listed))
    listed += transformers_published.write(folder, len(listed), outputs)
    lines = [f"{at}\t{family}\t{variant}\t{name}" for at, (family, variant, name) in enumerate(listed)]
    (folder / "models").write_text("\n".join(lines) + "\n")


def listed_families(listed, name):
    return [own for own in listed if own[2] == name]


main(pathlib.Path(sys.argv[1]))
