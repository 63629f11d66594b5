"""Writes small encoders of images with random weights, and what `transformers` makes of them.

Each has a folder with `config.json`, `model.safetensors`, `pixels` (f32, two images), `hidden` (f32, the vectors of each) and, with
a pooler, `pooled` or, with a classifier, `scores` (f32, a row for each image).
"""

import copy

import torch
from transformers import AutoConfig, AutoModel, AutoModelForImageClassification

VIT = dict(
    hidden_size=48, intermediate_size=80, num_hidden_layers=4, num_attention_heads=6, image_size=24, patch_size=4,
    num_labels=7, attn_implementation="eager",
)
# More patches than a pass takes.
MANY = dict(VIT, image_size=68, num_channels=1, qkv_bias=False, hidden_act="gelu_new")

# Family, variant, how it is made, what its configuration says.
IMAGES = [
    ("vit", "plain", AutoModelForImageClassification, VIT),
    ("vit", "pooler", AutoModel, VIT),
    ("vit", "many patches", AutoModelForImageClassification, MANY),
]
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def model_of(family, kind, more):
    config = AutoConfig.for_model(family, **more)
    model = kind.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 1.2 / parameter[0].numel() ** 0.5)
            else:
                parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def outputs(own, model):
    """Writes two drawn images and what `model` makes of them into the folder `own`."""
    config = model.config
    pixels = torch.randn(2, config.num_channels, config.image_size, config.image_size)
    with torch.no_grad():
        out = model.base_model(pixels)
        rows = {"pixels": pixels, "hidden": out.last_hidden_state}
        if getattr(out, "pooler_output", None) is not None:
            rows["pooled"] = out.pooler_output
        if hasattr(model, "classifier"):
            rows["scores"] = model(pixels).logits
    for file, numbers in rows.items():
        (own / file).write_bytes(numbers.contiguous().numpy().tobytes())


def write(folder, first):
    listed = []
    for family, variant, kind, more in IMAGES:
        for name, dtype in DTYPES.items():
            # Narrow weights differ from others in how they are read alone, which one variant shows.
            if name != "fp32" and variant != "plain":
                continue
            number = first + len(listed)
            torch.manual_seed(number)
            model = model_of(family, kind, more)
            # Weights alone are narrow.
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter.to(dtype).to(torch.float32))
            own = folder / str(number)
            own.mkdir()
            copy.deepcopy(model).to(dtype).save_pretrained(own)
            outputs(own, model)
            listed.append((family, variant, name))
    return listed
