"""Runs networks that Python packages bring, beside ONNX Runtime, on inputs like those they are made for.

usage: onnx_models.py WHEELS TOOLS [--time] [--memory]

TOOLS is the folder of mind-run and mind-translate, as target/release. WHEELS has the packages as pip downloads them:

    pip download --no-deps -d WHEELS rapidocr-onnxruntime==1.4.4 magika==1.0.3 silero-vad==6.2.3 pipecat-ai==1.14.0

For each network: the largest difference to ONNX Runtime, in parts of the largest element; it may be 1e-3, or how far ONNX
Runtime's results move if its inputs move by 1e-6, as those of quantised networks do. Whether results have the same bits on each instruction set,
with one thread and two, and whether each row of a batch has the bits that it has alone. Whether the Core ML package made
of the network computes the same, and, where this Python has coremltools, whether that loads it. `--time` adds medians in
milliseconds of both, with one thread and two, in turns, how long each takes to get ready, ONNX Runtime in a process that has
made no session and in one that has, and how much time of the
processor: mind-run from its start to the first result, ONNX Runtime for a session alone. `--memory` adds the memory that a run takes besides weights, inputs and outputs, and by how
much the arena of ONNX Runtime grows in three runs, as it says in its log. Exits with 1 if anything does not
hold.
"""

import dataclasses
import glob
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np
import onnxruntime

try:
    import coremltools
    from coremltools.converters.mil.frontend.milproto import load as milproto
except ImportError:
    coremltools = None

RELATIVE = 1e-3
INSTRUCTION_SETS = ["avx512", "avx2", "portable"]
TURNS = 5
RUNS = 7

# Runs a network three times; ONNX Runtime says how its arena grows.
ARENA = """
import sys
import numpy as np
import onnxruntime
onnxruntime.set_default_logger_severity(0)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[3])
session = onnxruntime.InferenceSession(sys.argv[1], options)
for _ in range(3):
    session.run(None, dict(np.load(sys.argv[2])))
"""

# Makes a session, the first one of a process, and prints the milliseconds that it takes.
FIRST_SESSION = """
import sys
import time
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[2])
start = time.perf_counter()
onnxruntime.InferenceSession(sys.argv[1], options)
print(1e3 * (time.perf_counter() - start))
"""

# Letters of five by seven elements, a number for each row.
LETTERS = {
    "M": (17, 27, 21, 21, 17, 17, 17),
    "I": (14, 4, 4, 4, 4, 4, 14),
    "N": (17, 25, 21, 19, 17, 17, 17),
    "D": (30, 17, 17, 17, 17, 17, 30),
    "O": (14, 17, 17, 17, 17, 17, 14),
    "P": (30, 17, 17, 30, 16, 16, 16),
    "T": (31, 4, 4, 4, 4, 4, 4),
    " ": (0, 0, 0, 0, 0, 0, 0),
}


def drawn(text, height, width, scale):
    """A picture of a line of text, dark on light, with elements from 0 to 1."""
    picture = np.full((height, width), 0.9, np.float32)
    left, top = scale, (height - 7 * scale) // 2
    for letter in text:
        bits = np.array([[row >> (4 - at) & 1 for at in range(5)] for row in LETTERS[letter]], bool)
        large = np.kron(bits, np.ones((scale, scale), bool))
        picture[top : top + 7 * scale, left : left + 5 * scale][large] = 0.1
        left += 6 * scale
    return picture


def line_of_text(height, width):
    picture = drawn("MIND OPT", height, width, height // 10)
    return np.repeat(((picture - 0.5) / 0.5)[None, None], 3, axis=1)


def page_of_text(height, width):
    page = np.concatenate([drawn("MIND OPT", height // 8, width, 3 + at % 3) for at in range(8)])
    mean, deviation = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    return np.stack([(page - m) / d for m, d in zip(mean, deviation)])[None].astype(np.float32)


def voice(count, rate=16000):
    """A sound like a vowel: pulses at a pitch that falls, through three resonances, that begin and end."""
    at = np.arange(count) / rate
    phase = np.cumsum(140 - 30 * at / max(at[-1], 1e-9)) / rate
    sound = np.diff(np.floor(phase), prepend=0.0)
    for frequency, width in ((700, 80), (1200, 90), (2600, 120)):
        radius, angle = np.exp(-np.pi * width / rate), 2 * np.pi * frequency / rate
        out, last, before = np.zeros(count), 0.0, 0.0
        for place in range(count):
            last, before = sound[place] + 2 * radius * np.cos(angle) * last - radius**2 * before, last
            out[place] = last
        sound = out
    sound *= np.minimum(1, np.minimum(at, at[::-1]) * 20)
    return (0.3 * sound / np.abs(sound).max()).astype(np.float32)


def mel_spectrum(sound, bands=80, window=400, hop=160, rate=16000):
    """Logarithms of the energy in bands that are evenly spaced to the ear, as speech recognisers take them."""
    padded = np.pad(sound, window // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, window)[::hop][:-1]
    power = np.abs(np.fft.rfft(frames * np.hanning(window + 1)[:-1])) ** 2
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    edges = np.interp(np.linspace(0, mel(rate / 2), bands + 2), mel(np.linspace(0, rate / 2, 4001)), np.linspace(0, rate / 2, 4001))
    bins = np.fft.rfftfreq(window, 1 / rate)
    rise = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    fall = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    filters = np.maximum(0, np.minimum(rise, fall)) * (2 / (edges[2:] - edges[:-2]))[:, None]
    spectrum = np.log10(np.maximum(filters @ power.T, 1e-10))
    return ((np.maximum(spectrum, spectrum.max() - 8) + 4) / 4).astype(np.float32)


def own_text(length):
    """The bytes of this file, from its start and its end."""
    with open(__file__, "rb") as file:
        content = file.read()
    half = length // 2
    return np.frombuffer(content[:half] + content[-half:], np.uint8).astype(np.int32)[None]


def speech(samples):
    """A piece of a voice, and the state before the first piece."""
    sound = voice(16000)[4000 : 4000 + samples][None]
    return {"input": sound, "state": np.zeros((2, 1, 128), np.float32)}


@dataclasses.dataclass
class Network:
    """A network of a package: its file there, its inputs, the axis of rows in those that have them, and those that choose
    a part of the network, and are bound."""

    name: str
    file: str
    inputs: dict
    rows: dict
    bound: tuple = ()


def networks():
    rate = {"sr": np.array(16000)}
    turn = mel_spectrum(voice(8 * 16000))[None]
    yield Network("ocr-angle", "rapidocr_onnxruntime/*/ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": line_of_text(48, 192)}, {"x": 0})
    yield Network("ocr-lines", "rapidocr_onnxruntime/*/ch_PP-OCRv4_det_infer.onnx", {"x": page_of_text(320, 320)}, {"x": 0})
    yield Network("ocr-letters", "rapidocr_onnxruntime/*/ch_PP-OCRv4_rec_infer.onnx", {"x": line_of_text(48, 320)}, {"x": 0})
    yield Network("file-kind", "magika/*/standard_v3_3/model.onnx", {"bytes": own_text(2048)}, {"bytes": 0})
    state = {"input": 0, "state": 1}
    yield Network("voice", "silero_vad/*/silero_vad.onnx", speech(576) | rate, state, ("sr",))
    yield Network("voice-16k", "silero_vad/*/silero_vad_16k_op15.onnx", speech(576) | rate, state)
    yield Network("turn", "pipecat/*/smart-turn-v3.2-cpu.onnx", {"input_features": turn}, {"input_features": 0})


def in_wheels(folder, pattern):
    """The bytes of the first file of a package that fits a pattern; `*` stands for folders."""
    first, last = pattern.split("*")
    for wheel in sorted(glob.glob(os.path.join(folder, "*.whl"))):
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(archive.namelist()):
                if name.startswith(first) and name.endswith(last):
                    return archive.read(name)
    return None


class Judge:
    def __init__(self, tools, folder):
        self.tools, self.folder, self.wrong = tools, folder, 0
        self.instruction_sets = [isa for isa in INSTRUCTION_SETS if self.runs(isa)]
        lacking = [isa for isa in INSTRUCTION_SETS if isa not in self.instruction_sets]
        if lacking:
            print(f"not run, since this machine lacks it: {', '.join(lacking)}")

    def runs(self, isa):
        """Whether this machine has an instruction set."""
        with open(self.path("one.core"), "w") as file:
            file.write("%0 = Input {name=x} : tensor<f32[1]>\n%1 = Relu (%0)\noutputs: %1\n")
        try:
            self.ran("mind-run", [self.path("one.core"), "--random", "1", "--isa", isa])
        except RuntimeError as why:
            if "cannot run" in str(why):
                return False
            raise
        return True

    def path(self, name):
        return os.path.join(self.folder, name)

    def dims(self, session, inputs):
        """Extents that the model leaves open, by their names or those of inputs and axes."""
        dims = {}
        for given in session.get_inputs():
            for axis, extent in enumerate(given.shape):
                if not isinstance(extent, int) or extent < 0:
                    named = isinstance(extent, str) and extent != "?"
                    dims[extent if named else f"{given.name}_{axis}"] = inputs[given.name].shape[axis]
        return [f"--dim={name}={extent}" for name, extent in dims.items()]

    def ran(self, tool, words):
        # No program is kept, so that figures are those of compiling.
        environment = os.environ | {"MIND_CACHE": ""}
        command = [os.path.join(self.tools, tool), *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or f"{tool} ended with {done.returncode}").splitlines()[0])
        return done.stdout

    def given(self, inputs, bound):
        """Words that give a network its inputs."""
        np.savez(self.path("in.npz"), **{name: own for name, own in inputs.items() if name not in bound})
        np.savez(self.path("bound.npz"), **{name: inputs[name] for name in bound})
        return ["--inputs", self.path("in.npz"), *self.bindings(bound)]

    def bindings(self, bound):
        """Words that make inputs of a network constants."""
        return [f"--bind={name}={self.path('bound.npz')}" for name in bound]

    def outputs(self, inputs, words, model="model.onnx", bound=()):
        words = [*self.given(inputs, bound), "--outputs", self.path("out.npz"), *words]
        self.ran("mind-run", [self.path(model), *words])
        found = np.load(self.path("out.npz"))
        return [found[f"out{at}"] for at in range(len(found.files))]

    def network(self, network, model, is_timed, measures_memory):
        with open(self.path("model.onnx"), "wb") as file:
            file.write(model)
        session = onnxruntime.InferenceSession(model)
        inputs = {given.name: network.inputs[given.name] for given in session.get_inputs()}
        wanted = session.run(None, inputs)
        allowed = max(RELATIVE, sensitivity(session, inputs, wanted))
        dims = self.dims(session, inputs)
        found = self.outputs(inputs, dims, bound=network.bound)
        difference = farthest(found, wanted)
        self.say(network, f"differs by {difference:.1e} of {allowed:.1e}", difference <= allowed)
        alike = True
        for words in [["--isa", isa, "--threads", threads] for isa in self.instruction_sets for threads in "12"]:
            alike &= same(found, self.outputs(inputs, [*dims, *words], bound=network.bound))
        self.say(network, f"the same bits on {', '.join(self.instruction_sets)}, with one thread and two", alike)
        self.batches(network, session, inputs)
        self.package(network, inputs, [*dims, *self.bindings(network.bound)], wanted, allowed)
        if is_timed:
            self.times(network, model, inputs, dims)
        if measures_memory:
            self.memory(network, inputs, dims)

    def memory(self, network, inputs, dims):
        """Memory of a run, beside the arena of ONNX Runtime."""
        np.savez(self.path("all.npz"), **inputs)
        for threads in (1, 2):
            words = [sys.executable, "-c", ARENA, self.path("model.onnx"), self.path("all.npz"), str(threads)]
            said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
            arena = sum(int(bytes) for bytes in re.findall(r"Extended allocation by (\d+) bytes", said))
            words = [*self.given(inputs, network.bound), "--bench", "--format=json", f"--threads={threads}", *dims]
            own = json.loads(self.ran("mind-run", [self.path("model.onnx"), *words]))["workspace_bytes"]
            own = "several programs" if own is None else f"{own / 1e3:,.0f} kB"
            plural = "" if threads == 1 else "s"
            print(f"{network.name}: {threads} thread{plural}: a run takes {own}, the arena of ONNX Runtime {arena / 1e3:,.0f} kB")

    def package(self, network, inputs, words, wanted, allowed):
        """What a package for Core ML computes, in `float`, and whether coremltools loads it."""
        words = ["--to=mlpackage", "--io=coreml", "--precision=fp32", "-o", self.path("model.mlpackage"), *words]
        try:
            self.ran("mind-translate", [*words, self.path("model.onnx")])
        except RuntimeError as why:
            self.say(network, f"no package: {why}", False)
            return
        # A word of MIL's is no name of an input.
        named = {"state": "var_state"}
        narrow = lambda array: np.atleast_1d(array.astype(np.int32) if array.dtype == np.int64 else array)
        open_inputs = {name: array for name, array in inputs.items() if name not in network.bound}
        narrow = {named.get(name, name): narrow(array) for name, array in open_inputs.items()}
        difference = farthest(self.outputs(narrow, [], "model.mlpackage"), wanted)
        self.say(network, f"a package for Core ML differs by {difference:.1e} of {allowed:.1e}", difference <= allowed)
        if coremltools is not None:
            self.say(network, "coremltools loads the package", loads(self.path("model.mlpackage")))

    def batches(self, network, session, inputs):
        """Each row of a batch has the bits that it has alone."""
        rows = {name: inputs[name].shape[axis] for name, axis in network.rows.items()}
        fixed = [given.name for given in session.get_inputs() if given.name in rows and isinstance(given.shape[network.rows[given.name]], int) and given.shape[network.rows[given.name]] > 0]
        if fixed:
            print(f"{network.name}: takes one row alone")
            return
        joined = dict(inputs)
        for name, axis in network.rows.items():
            others = [shifted(inputs[name], by) for by in range(4)]
            joined[name] = np.concatenate(others, axis)
        together = self.outputs(joined, self.dims(session, joined), bound=network.bound)
        alike = True
        for row in range(4):
            own = inputs | {name: shifted(inputs[name], row) for name in network.rows}
            alone = self.outputs(own, self.dims(session, own), bound=network.bound)
            for one, many in zip(alone, together):
                axis = next(at for at, extent in enumerate(one.shape) if many.shape[at] != extent)
                alike &= np.take(many, [row], axis).tobytes() == one.tobytes()
        self.say(network, "each row of a batch of 4 has the bits that it has alone", alike)

    def first_result(self, network, model, inputs, dims):
        """Time of the processor from the file to the first result, and for a session of ONNX Runtime."""
        words = [self.path("model.onnx"), *self.given(inputs, network.bound), *dims, "--threads=1"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        spent = lambda used: used.ru_utime + used.ru_stime
        ours, theirs = [], []
        for _ in range(TURNS):
            start = spent(resource.getrusage(resource.RUSAGE_CHILDREN))
            self.ran("mind-run", words)
            ours.append(spent(resource.getrusage(resource.RUSAGE_CHILDREN)) - start)
            start = time.process_time()
            session = onnxruntime.InferenceSession(model, options)
            theirs.append(time.process_time() - start)
            del session
        ours, theirs = 1e3 * statistics.median(ours), 1e3 * statistics.median(theirs)
        print(f"{network.name}: first result after {ours:.0f} ms of the processor, a session of ONNX Runtime {theirs:.0f}")

    def times(self, network, model, inputs, dims):
        self.first_result(network, model, inputs, dims)
        given = self.given(inputs, network.bound)
        for threads in (1, 2):
            theirs, first, ready, ours, compiled = [], [], [], [], []
            for _ in range(TURNS):
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = threads
                start = time.perf_counter()
                session = onnxruntime.InferenceSession(model, options)
                ready.append(time.perf_counter() - start)
                command = [sys.executable, "-c", FIRST_SESSION, self.path("model.onnx"), str(threads)]
                first.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
                session.run(None, inputs)
                for _ in range(RUNS):
                    start = time.perf_counter()
                    session.run(None, inputs)
                    theirs.append(time.perf_counter() - start)
                del session
                words = [*given, "--bench", "--format=json", f"--threads={threads}"]
                said = json.loads(self.ran("mind-run", [self.path("model.onnx"), *words, *dims]))
                ours.append(said["run_us"]["median"] / 1e3)
                compiled.append((said["compile_us"] + said["bind_us"]) / 1e3)
            theirs, ready, first = 1e3 * statistics.median(theirs), 1e3 * statistics.median(ready), statistics.median(first)
            ours, compiled = statistics.median(ours), statistics.median(compiled)
            plural = "" if threads == 1 else "s"
            print(f"{network.name}: {threads} thread{plural}: {ours:.2f} ms, ONNX Runtime {theirs:.2f}, ratio {ours / theirs:.2f}; ready after {compiled:.0f} ms, ONNX Runtime {first:.0f}, or {ready:.0f} if it made sessions before")

    def say(self, network, text, holds):
        print(f"{network.name}: {text}" if holds else f"{network.name}: WRONG: not so: {text}", flush=True)
        self.wrong += not holds


def shifted(array, by):
    """Another row like a row."""
    return np.roll(array, by, axis=-1)


def sensitivity(session, inputs, wanted):
    """How far the results move if each number given moves by 1e-6 of itself: steps of quantised networks jump."""
    draws = np.random.default_rng(1)
    moved = lambda array: (array * (1 + 1e-6 * draws.standard_normal(array.shape))).astype(array.dtype)
    near = [{name: moved(own) if own.dtype.kind == "f" else own for name, own in inputs.items()} for _ in range(8)]
    return max(farthest(session.run(None, own), wanted) for own in near)


def loads(package):
    """Whether coremltools, which checks types and arguments, loads a package."""
    data = os.path.join(package, "Data", "com.apple.CoreML")
    model = coremltools.proto.Model_pb2.Model()
    with open(os.path.join(data, "model.mlmodel"), "rb") as file:
        model.ParseFromString(file.read())
    try:
        milproto.load(model, specification_version=model.specificationVersion, file_weights_dir=os.path.join(data, "weights"))
    except Exception as why:  # Whatever it raises means that it refuses.
        print(f"{type(why).__name__}: {why}")
        return False
    return True


def farthest(found, wanted):
    return max(largest(a, b) for a, b in zip(found, wanted, strict=True))


def largest(found, wanted):
    """The largest difference, in parts of the largest element."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return np.inf
    found, wanted = found.astype(float), wanted.astype(float)
    return np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30)


def same(found, wanted):
    return all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))


def main(wheels, tools, *words):
    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(tools, folder)
        for network in networks():
            model = in_wheels(wheels, network.file)
            if model is None:
                print(f"{network.name}: no package in {wheels} has {network.file}")
                judge.wrong += 1
                continue
            try:
                judge.network(network, model, "--time" in words, "--memory" in words)
            except RuntimeError as why:
                judge.say(network, str(why), False)
        return int(judge.wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
