"""Decoder models beside llama.cpp, both reading one GGUF file: tokens a second, and how far logits are off.

usage: llama.py MIND_RUN [--stored q8_0,q4_0,q4_k] [--threads 1,2] [--layers 4] [--turns 5] [--differences]

    pip install numpy gguf xllamacpp

The models have the shape of Qwen2-0.5B, a vocabulary of 4096 and random weights without a mean; those of q4_k have rows of
1024 numbers in the place of 896, since their blocks are of 256. A turn is a prefill of 512 tokens, and 64 tokens behind 16, by llama.cpp,
by mind-run as it is, and with `--quantize-activations`; all take turns, and medians are printed as rows of Markdown.

`--differences` compares logits of two layers with those in double precision, which numpy computes of the same file: the root of the
mean of the squares of what they are off and the largest of it, in parts of that of logits and of the largest logit, the
divergence in nats a token, and of how many tokens the first choice is the same. llama.cpp tells logarithms of probabilities, so
all are compared less their mean.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

import gguf
import numpy as np
import xllamacpp
from gguf import GGMLQuantizationType as Stored

VOCABULARY = 4096
HEAD = 64
KEY_HEADS = 2
FEED_FORWARD = 4864
STORED = {"q8_0": Stored.Q8_0, "q4_0": Stored.Q4_0, "q4_k": Stored.Q4_K}

# How tokens and embeddings are made.
KINDS = ["random", "tokens repeat", "some channels 50 times as large"]


def vocabulary():
    """Tokens that bytes and pairs of printable characters are, as gpt2 names bytes."""
    named = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in named] + [chr(256 + at) for at in range(256 - len(named))]
    pairs = [(first, second) for first in letters[:94] for second in letters[:94]]
    pairs = pairs[: VOCABULARY - 1 - len(letters)]
    return letters + [first + second for first, second in pairs] + ["<|endoftext|>"], pairs


def blocks_of_q4_k(draws, rows, columns, deviation):
    """Blocks of 256 numbers of four bits whose least values are 7.5 steps below zero."""
    count = rows * columns // 256
    scales = draws.integers(20, 64, (count, 8), dtype=np.uint8)
    packed = np.empty((count, 12), np.uint8)
    low, high = scales[:, :4], scales[:, 4:]
    packed[:, :4] = packed[:, 4:8] = low | (high >> 4) << 6
    packed[:, 8:] = high & 15 | (high & 15) << 4
    step = np.full((count, 1), deviation / (4.6 * 42), np.float16)
    least = (7.5 * step.astype(np.float32)).astype(np.float16)
    digits = draws.integers(0, 256, (count, 128), dtype=np.uint8)
    parts = [step.view(np.uint8), least.view(np.uint8), packed, digits]
    return np.concatenate(parts, 1).reshape(rows, -1)


def write_model(path, stored, layers, kind):
    draws = np.random.default_rng(7)
    width = 1024 if stored == "q4_k" else 896
    file = gguf.GGUFWriter(path, "qwen2")
    file.add_block_count(layers)
    file.add_context_length(2048)
    file.add_embedding_length(width)
    file.add_feed_forward_length(FEED_FORWARD)
    file.add_head_count(width // HEAD)
    file.add_head_count_kv(KEY_HEADS)
    file.add_layer_norm_rms_eps(1e-6)
    file.add_rope_freq_base(1e6)
    tokens, pairs = vocabulary()
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("qwen2")
    file.add_token_list(tokens)
    file.add_token_merges([" ".join(pair) for pair in pairs])
    file.add_token_types([1] * (VOCABULARY - 1) + [3])
    file.add_eos_token_id(VOCABULARY - 1)
    file.add_add_bos_token(False)

    def matrix(name, rows, columns, own=STORED[stored], deviation=None):
        deviation = deviation or columns**-0.5
        if own == Stored.Q4_K:
            file.add_tensor(name, blocks_of_q4_k(draws, rows, columns, deviation), raw_dtype=own)
            return
        numbers = draws.standard_normal((rows, columns), np.float32) * np.float32(deviation)
        if kind == KINDS[2] and name == "token_embd.weight":
            numbers[:, :8] *= 50
        file.add_tensor(name, gguf.quants.quantize(numbers, own), raw_dtype=own)

    ones = lambda name: file.add_tensor(name, np.ones(width, np.float32))
    embeddings = Stored.Q8_0 if stored == "q4_k" else STORED[stored]
    matrix("token_embd.weight", VOCABULARY, width, embeddings, 0.5)
    matrix("output.weight", VOCABULARY, width)
    ones("output_norm.weight")
    for layer in range(layers):
        name = lambda own: f"blk.{layer}.{own}"
        ones(name("attn_norm.weight"))
        ones(name("ffn_norm.weight"))
        for own, rows in ("q", width), ("k", KEY_HEADS * HEAD), ("v", KEY_HEADS * HEAD):
            matrix(name(f"attn_{own}.weight"), rows, width)
            file.add_tensor(name(f"attn_{own}.bias"), 0.1 * draws.standard_normal(rows, np.float32))
        matrix(name("attn_output.weight"), width, width)
        matrix(name("ffn_gate.weight"), FEED_FORWARD, width)
        matrix(name("ffn_up.weight"), FEED_FORWARD, width)
        matrix(name("ffn_down.weight"), width, FEED_FORWARD)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


class Llama:
    """A model in llama.cpp."""

    def __init__(self, path, threads):
        options = xllamacpp.CommonParams()
        options.model.path = path
        options.n_ctx = 1024
        options.n_batch = options.n_ubatch = 512
        options.n_parallel = 1
        options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
        options.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
        options.verbosity = -1
        self.server = xllamacpp.Server(options)

    def completed(self, tokens, count, **more):
        words = {"prompt": tokens, "n_predict": count, "ignore_eos": True, "cache_prompt": False, **more}
        found = self.server.handle_completions(words)
        return json.loads(found) if isinstance(found, (bytes, str)) else found

    def speed(self, prompt, few):
        prefill = self.completed(prompt, 1, temperature=0)["timings"]["prompt_per_second"]
        decode = self.completed(few, 64, temperature=0)["timings"]["predicted_per_second"]
        return prefill, decode

    def log_probabilities(self, tokens):
        """Those of every token behind these. They come with a token that is a whole text, so draws go on until one is."""
        for seed in range(100):
            found = self.completed(tokens, 1, temperature=1.0, n_probs=VOCABULARY, seed=seed)["choices"][0]["logprobs"]
            if found:
                break
        row = np.full(VOCABULARY, np.nan)
        for own in found["content"][0]["top_logprobs"]:
            row[own["id"]] = own["logprob"]
        return row


def mind_run(program, path, tokens, words):
    command = [program, "--model", path, "--tokens", ",".join(map(str, tokens)), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def speed(program, path, prompt, few, words):
    rates = []
    for tokens, count, what in (prompt, 1, "prefill"), (few, 65, "decode"):
        done = mind_run(program, path, tokens, [f"--generate={count}", *words])
        found = re.search(what + r" \d+ tokens? in [\d.]+ s, ([\d.]+) tokens/s", done.stdout + done.stderr)
        rates.append(float(found[1]))
    return rates


def speeds(program, folder, formats, threads, layers, turns):
    draws = random.Random(1)
    prompt = [draws.randrange(VOCABULARY - 1) for _ in range(512)]
    few = prompt[:16]
    print("| weights | threads | prefill: llama.cpp | numbers | integers | decode: llama.cpp | numbers | integers |")
    print("|---|---|---|---|---|---|---|---|")
    for stored in formats:
        path = os.path.join(folder, f"{stored}.gguf")
        write_model(path, stored, layers, KINDS[0])
        for count in threads:
            llama, rates = Llama(path, count), []
            words = [f"--threads={count}"]
            for _ in range(turns):
                ways = [words, [*words, "--quantize-activations"]]
                rates.append([llama.speed(prompt, few), *(speed(program, path, prompt, few, way) for way in ways)])
            medians = np.median(np.array(rates), 0)
            cells = []
            for theirs, *ours in medians.T:
                cells += [f"{theirs:.0f}", *(f"{own:.0f} ({own / theirs:.2f})" for own in ours)]
            print("|", " | ".join([stored, str(count), *cells]), "|", flush=True)


def logits_in_double_precision(path, tokens):
    tensors = gguf.GGUFReader(path).tensors
    wide = lambda own: gguf.quants.dequantize(own.data, own.tensor_type).astype(np.float64)
    weights = {own.name: wide(own).reshape([int(extent) for extent in reversed(own.shape)]) for own in tensors}
    scaled = lambda rows, name: rows / np.sqrt((rows * rows).mean(-1, keepdims=True) + 1e-6) * weights[name]
    state = weights["token_embd.weight"][tokens]
    count, width = state.shape
    angles = np.arange(count)[:, None] * 1e6 ** (-np.arange(0, HEAD, 2) / HEAD)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]

    def rotated(heads):
        first, second = np.split(heads, 2, -1)
        return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)

    layer = 0
    while f"blk.{layer}.attn_norm.weight" in weights:
        name = lambda own: f"blk.{layer}.{own}"
        rows = scaled(state, name("attn_norm.weight"))
        heads = lambda own: rows @ weights[name(f"attn_{own}.weight")].T + weights[name(f"attn_{own}.bias")]
        query, key, value = (heads(own).reshape(count, -1, HEAD) for own in "qkv")
        repeats = query.shape[1] // KEY_HEADS
        key, value = np.repeat(rotated(key), repeats, 1), np.repeat(value, repeats, 1)
        scores = np.einsum("qhd,khd->hqk", rotated(query), key) / HEAD**0.5
        scores = np.where(np.tril(np.ones((count, count), bool)), scores, -np.inf)
        shares = np.exp(log_softmax(scores))
        state = state + np.einsum("hqk,khd->qhd", shares, value).reshape(count, width) @ weights[name("attn_output.weight")].T
        rows = scaled(state, name("ffn_norm.weight"))
        gate, up = (rows @ weights[name(f"ffn_{own}.weight")].T for own in ("gate", "up"))
        state = state + gate / (1 + np.exp(-gate)) * up @ weights[name("ffn_down.weight")].T
        layer += 1
    return scaled(state, "output_norm.weight") @ weights["output.weight"].T


def log_softmax(rows):
    rows = rows - rows.max(-1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(-1, keepdims=True))


def differences(program, folder, formats):
    print("| weights | tokens and embeddings | of | root of mean squares | largest | divergence, nats a token | same first token |")
    print("|---|---|---|---|---|---|---|")
    for stored in formats:
        for kind in KINDS:
            path, arrays = os.path.join(folder, "two.gguf"), os.path.join(folder, "logits.npz")
            write_model(path, stored, 2, kind)
            draws = random.Random(3)
            tokens = [draws.randrange(VOCABULARY - 1) for _ in range(32)]
            if kind == KINDS[1]:
                tokens = tokens[:4] * 8
            exact = logits_in_double_precision(path, tokens)

            def ours(*words):
                mind_run(program, path, tokens, ["--generate=1", "--all-logits", "--logits", arrays, *words])
                return np.load(arrays)["logits"].astype(np.float64)

            llama = Llama(path, 1)
            theirs = np.array([llama.log_probabilities(tokens[: count + 1]) for count in range(len(tokens))])
            found = {"llama.cpp": theirs, "integers": ours("--quantize-activations"), "numbers": ours()}
            for name, logits in found.items():
                print(f"| {stored} | {kind} | {name} | {compared(logits, exact)} |", flush=True)


def compared(logits, exact):
    known = ~np.isnan(logits)
    centred = lambda rows: rows - rows.mean(-1, keepdims=True, where=known)
    off, wanted = (centred(logits) - centred(exact))[known], centred(exact)[known]
    square = np.sqrt((off * off).mean() / (wanted * wanted).mean())
    sure = log_softmax(exact)
    doubtful = log_softmax(np.where(known, logits, -np.inf))
    divergence = np.where(known, np.exp(sure) * (sure - doubtful), 0).sum(-1).mean()
    same = (np.where(known, logits, -np.inf).argmax(-1) == exact.argmax(-1)).sum()
    return f"{square:.1e} | {abs(off).max() / abs(wanted).max():.1e} | {divergence:.1e} | {same} of {len(exact)}"


def main(program, *words):
    options = {"--stored": "q8_0,q4_0,q4_k", "--threads": "1,2", "--layers": "4", "--turns": "5"}
    wants_differences = "--differences" in words
    rest = [word for word in words if word != "--differences"]
    for name, value in zip(rest[::2], rest[1::2], strict=True):
        if name not in options:
            sys.exit(f"error: unknown option {name}")
        options[name] = value
    formats = options["--stored"].split(",")
    with tempfile.TemporaryDirectory() as folder:
        if wants_differences:
            differences(program, folder, formats)
        else:
            threads = [int(count) for count in options["--threads"].split(",")]
            speeds(program, folder, formats, threads, int(options["--layers"]), int(options["--turns"]))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
