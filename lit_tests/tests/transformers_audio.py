"""Writes small models that hear, with random weights, and what `transformers` makes of them.

Each has a folder with `config.json`, `generation_config.json`, `preprocessor_config.json`, `model.safetensors`, `sound.wav`,
`features` (f32, of each feature its number in every frame), `tokens` (60 ids of a sequence behind the sound), `audio_logits` (f32,
a row for each of them), `generated` (40 ids, each the most likely one, behind what the decoder starts from), and `asked` (the
language and the task that are asked for, if any).
"""

import copy
import wave

import numpy
import torch
from transformers import AutoConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

WHISPER = dict(
    vocab_size=97, d_model=48, num_mel_bins=80, encoder_layers=4, decoder_layers=3, encoder_attention_heads=6,
    decoder_attention_heads=4, encoder_ffn_dim=80, decoder_ffn_dim=72, max_source_positions=50, max_target_positions=64,
    pad_token_id=1, bos_token_id=2, eos_token_id=3, decoder_start_token_id=4, suppress_tokens=None, begin_suppress_tokens=None,
)
# No token is a time, which are those behind the last one here.
LANGUAGES = dict(
    lang_to_id={"<|en|>": 80, "<|de|>": 81, "<|fr|>": 82}, task_to_id={"transcribe": 85, "translate": 86},
    no_timestamps_token_id=96, is_multilingual=True, suppress_tokens=[5, 6, 3], begin_suppress_tokens=[40, 41, 42],
)

# Family, variant, what its configuration and its generation configuration say, the language and the task that are asked for.
SOUNDS = [
    ("whisper", "plain", WHISPER, LANGUAGES, None),
    ("whisper", "asked", WHISPER, LANGUAGES, ("de", "translate")),
    ("whisper", "forced", dict(WHISPER, max_source_positions=300, num_mel_bins=128), dict(
        forced_decoder_ids=[[1, 7], [2, 9]], no_timestamps_token_id=96, suppress_tokens=[3]), None),
]
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
RATE = 16000


def model_of(more, generation):
    config = AutoConfig.for_model("whisper", **more)
    config._attn_implementation = "eager"
    model = WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 1.2 / parameter[0].numel() ** 0.5)
            else:
                parameter.add_(0.2 * torch.randn_like(parameter))
    for key, value in generation.items():
        setattr(model.generation_config, key, copy.deepcopy(value))
    return model


def sound_of(seconds, number):
    """Noise and a rising tone, a little shorter than what the model hears."""
    random = numpy.random.RandomState(number)
    count = int(seconds * RATE * 0.83)
    time = numpy.arange(count) / RATE
    tone = numpy.sin(2 * numpy.pi * (300 + 900 * time / seconds) * time)
    samples = 0.2 * random.randn(count) + 0.3 * tone
    return numpy.clip(numpy.round(samples * 32768), -32768, 32767).astype(numpy.int16)


def logits(own, model, number):
    """Writes a sound, its features, a drawn sequence and the logits of this into the folder `own`; returns the features."""
    config = model.config
    seconds = config.max_source_positions // 50
    extractor = WhisperFeatureExtractor(feature_size=config.num_mel_bins, chunk_length=seconds)
    extractor.save_pretrained(own)
    # The extractor transforms in f32: it is off by more than 1e-5 for a sound in some hundred, not for these.
    samples = sound_of(seconds, number)
    with wave.open(str(own / "sound.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    heard = samples.astype(numpy.float32) / 32768
    features = extractor(heard, sampling_rate=RATE, return_tensors="pt").input_features
    tokens = torch.randint(0, config.vocab_size, (1, 60))
    with torch.no_grad():
        found = model(input_features=features, decoder_input_ids=tokens).logits[0]
    (own / "tokens").write_text(",".join(map(str, tokens[0].tolist())))
    (own / "features").write_bytes(features.contiguous().numpy().tobytes())
    (own / "audio_logits").write_bytes(found.contiguous().numpy().tobytes())
    return features


def write(folder, first):
    listed = []
    for at, (family, variant, more, generation, asked) in enumerate(SOUNDS):
        for name, dtype in DTYPES.items():
            # Narrow weights differ from others in how they are read alone, which one variant shows.
            if name != "fp32" and variant != "plain":
                continue
            number = first + len(listed)
            torch.manual_seed(number)
            model = model_of(more, generation)
            # Weights alone are narrow.
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter.to(dtype).to(torch.float32))
            own = folder / str(number)
            own.mkdir()
            copy.deepcopy(model).to(dtype).save_pretrained(own)
            features = logits(own, model, at)
            words = {} if asked is None else dict(zip(["language", "task"], asked))
            with torch.no_grad():
                generated = model.generate(features, max_new_tokens=40, do_sample=False, num_beams=1, **words)[0].tolist()
            assert len(generated) == 40, generated
            (own / "asked").write_text("" if asked is None else " ".join(asked))
            (own / "generated").write_text(",".join(map(str, generated)))
            listed.append((family, variant, name))
    return listed
