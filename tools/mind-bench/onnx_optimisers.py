#!/usr/bin/env python3
"""Compares optimisers of ONNX models: `mind-opt -O2`, ONNX Runtime's offline optimisation and onnxsim.

    cargo build --release -p mind-opt -p mind-run
    pip install numpy onnx onnxruntime onnxsim
    python3 tools/mind-bench/onnx_optimisers.py target/release MODEL.onnx [NAME=EXTENT ...] [MODEL.onnx ...]

A row for each model and optimiser: nodes, those of inner graphs included; the median time of a run in ONNX Runtime, whose
own optimisation is on and off; how far the results are from those of the model; and whether mind-run computes the same
bits. Models are run in turns, `--rounds` times on `--threads` threads. Open dimensions get the extents that are given.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort
import onnxsim

LEVELS = ort.GraphOptimizationLevel
DTYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


def count(graph):
    """The nodes of a graph, and of the graphs in it."""
    inner = (own.g for node in graph.node for own in node.attribute if own.type == onnx.AttributeProto.GRAPH)
    return len(graph.node) + sum(count(own) for own in inner)


def nodes(path):
    model = onnx.load(path)
    return count(model.graph) + sum(len(own.node) for own in model.functions)


def session(path, level, threads):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def shapes(path, dims):
    """The shape of each input, with the extents that are given for open dimensions."""
    found = {}
    for own in session(path, LEVELS.ORT_DISABLE_ALL, 1).get_inputs():
        shape = [
            extent if isinstance(extent, int) and extent >= 0 else dims.get(extent, dims.get(f"{own.name}_{at}", 1))
            for at, extent in enumerate(own.shape)
        ]
        found[own.name] = shape, DTYPES[own.type]
    return found


def arrays(shapes):
    rng = np.random.default_rng(1)
    drawn = {}
    for name, (shape, dtype) in shapes.items():
        numbers = rng.standard_normal(shape) if dtype == np.float32 else rng.integers(0, 255, shape)
        drawn[name] = np.asarray(numbers, dtype)
    if "sr" in drawn:
        drawn["sr"] = np.array(16000, np.int64)
    return drawn


def fixed(path, shapes, out):
    """The model with the extents of its inputs written, so that all optimisers are told the same."""
    model = onnx.load(path)
    for own in model.graph.input:
        if own.name in shapes:
            for dim, extent in zip(own.type.tensor_type.shape.dim, shapes[own.name][0]):
                dim.dim_value = extent
    onnx.save(model, out)


def by_mind(tools, path, out):
    subprocess.run([os.path.join(tools, "mind-opt"), "-O2", path, "-o", out], check=True)


def by_runtime(level):
    def optimise(_, path, out):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        options.optimized_model_filepath = out
        options.log_severity_level = 4
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    return optimise


def by_onnxsim(_, path, out):
    model, _ = onnxsim.simplify(path)
    onnx.save(model, out)


OPTIMISERS = {
    "mind-opt -O2": by_mind,
    "ONNX Runtime, basic": by_runtime(LEVELS.ORT_ENABLE_BASIC),
    "ONNX Runtime, all": by_runtime(LEVELS.ORT_ENABLE_ALL),
    "onnxsim": by_onnxsim,
}


def bits(tools, path, given):
    """What mind-run computes, as bytes; None where it does not take the model."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(inputs, **given)
        command = [os.path.join(tools, "mind-run"), path, "--inputs", inputs, "--outputs", outputs]
        if subprocess.run(command, capture_output=True).returncode:
            return None
        with np.load(outputs) as archive:
            return [archive[name].tobytes() for name in sorted(archive.files)]


def timed(run, given):
    start = time.perf_counter()
    run.run(None, given)
    return (time.perf_counter() - start) * 1e3


def compare(tools, path, dims, rounds, threads, folder):
    name = os.path.basename(path)
    of = shapes(path, dims)
    given = arrays(of)
    models = {"as it is": os.path.join(folder, "0.onnx")}
    fixed(path, of, models["as it is"])
    for at, (optimiser, optimise) in enumerate(OPTIMISERS.items(), 1):
        out = os.path.join(folder, f"{at}.onnx")
        try:
            optimise(tools, models["as it is"], out)
            models[optimiser] = out
        except Exception as error:
            print(f"| {name} | {optimiser} | refused: {str(error).splitlines()[0]} |")
    levels = [LEVELS.ORT_ENABLE_ALL, LEVELS.ORT_DISABLE_ALL]
    runs = {(own, level): session(file, level, threads) for own, file in models.items() for level in levels}
    times = {key: [] for key in runs}
    for _ in range(rounds + 2):
        for key, run in runs.items():
            times[key].append(timed(run, given))
    wanted = runs["as it is", levels[1]].run(None, given)
    own_bits = bits(tools, models["as it is"], given)
    base = [statistics.median(times["as it is", level][2:]) for level in levels]
    for own, file in models.items():
        found = runs[own, levels[1]].run(None, given)
        far = max(float(np.max(np.abs(a.astype(float) - b), initial=0.0)) for a, b in zip(wanted, found))
        medians = [statistics.median(times[own, level][2:]) for level in levels]
        ratios = [f"{own:.2f} ms ({own / first:.2f})" for own, first in zip(medians, base)]
        same = "–" if own_bits is None else {True: "same", False: "other"}.get(bits(tools, file, given) == own_bits)
        print(f"| {name} | {own} | {nodes(file)} | {ratios[0]} | {ratios[1]} | {far:.1e} | {same} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tools", help="the folder of mind-opt and mind-run")
    parser.add_argument("models", nargs="+", help="models, each followed by NAME=EXTENT for its open dimensions")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    print("| model | optimised by | nodes | optimisation on | off | off by | bits in mind-run |")
    print("|---|---|---|---|---|---|---|")
    models = []
    for word in asked.models:
        if "=" in word:
            dim, extent = word.split("=")
            models[-1][1][dim] = int(extent)
        else:
            models.append((word, {}))
    for path, dims in models:
        with tempfile.TemporaryDirectory() as folder:
            compare(asked.tools, path, dims, asked.rounds, asked.threads, folder)


main()
