#!/usr/bin/env python3
"""Times the workloads of this folder in other compilers, beside our own.

    cargo build --profile dist -p mind-bench --bin workloads
    pip install numpy onnx onnxruntime openvino jax
    python3 tools/mind-bench/peers.py target/dist/workloads --threads 1 [NAME ...] [--json FILE]

Each workload is taken from `workloads --print` and built again, op by op, as an ONNX model (for ONNX Runtime and
OpenVINO) and as a jitted function (for JAX, which is XLA); products are timed in NumPy too. Weights are constants of
an ONNX model and arguments in JAX. All take turns: a figure is the median in microseconds of the medians of all turns, the
least behind it. Those of the others hold what a call from Python costs, tens of microseconds for some; the line `call`
says how much, by a sum of two numbers. `plot.py` draws what `--json` writes, and prints it as a table.
Workloads of f16 and bf16 are left out: others compute them otherwise.
"""

import argparse
import ast
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass
class Node:
    """A line of Core text."""

    name: str
    op: str
    operands: list[str]
    attrs: dict
    shape: list[int]
    dtype: str
    # Its further results.
    others: list[str]

    @property
    def is_param(self):
        return self.attrs.get("role") == "param"


LINE = re.compile(
    r"(?P<name>%\d+)(?P<others>(?:, %\d+)*) = (?P<op>\w+)(?: \((?P<operands>[^)]*)\))?(?: \{(?P<attrs>.*?)\})?"
    r"(?: : tensor<(?P<dtype>\w+)\[(?P<shape>.*)\]>| \{)?$"
)


def modules(program, names):
    """The nodes and outputs of each workload."""
    text = subprocess.run([program, "--print", *names], check=True, capture_output=True, text=True).stdout
    for block in re.split(r"(?m)^# ", text)[1:]:
        head, *lines = block.strip().split("\n")
        name = head.split(":")[0]
        if name.endswith("f16"):
            continue
        nodes, outputs = [], []
        for line in lines:
            if line.startswith("outputs:"):
                outputs = re.findall(r"%\d+", line)
            elif found := LINE.match(line):
                pairs = re.findall(r"(\w+)=(\[[^\]]*\]|[^,\s]+)", found["attrs"] or "")
                attrs = {key: ast.literal_eval(text) if text[0] in "[-0123456789" else text for key, text in pairs}
                operands = re.findall(r"%\d+", found["operands"] or "")
                shape = [int(extent) for extent in re.findall(r"\d+", found["shape"] or "")]
                others = re.findall(r"%\d+", found["others"])
                dtype = found["dtype"] or "f32"
                nodes.append(Node(found["name"], found["op"], operands, attrs, shape, dtype, others))
        yield name, nodes, outputs


INTEGERS = {"i8": "int8", "u8": "uint8"}


def made_up(nodes):
    """Arrays for the inputs and weights."""
    random = np.random.default_rng(1)

    def array(node):
        if node.dtype in INTEGERS:
            limits = np.iinfo(INTEGERS[node.dtype])
            return random.integers(limits.min, limits.max + 1, node.shape, dtype=limits.dtype)
        return random.random(node.shape, dtype=np.float32) - np.float32(0.5)

    return {node.name: array(node) for node in nodes if node.op == "Input"}


class Onnx:
    """A workload as an ONNX model; convolutions are of NCHW, which is what its runtimes are made for."""

    WINDOWS = {"Conv2d", "Conv", "ConvTranspose", "ReduceWindow"}
    SAME = {"Neg", "Sqrt", "Relu", "Sigmoid", "Tanh", "Gelu", "Add", "Sub", "Mul", "Div", "MatMul"}

    def __init__(self, nodes, outputs):
        from onnx import helper

        self.nodes, self.initializers, self.inputs = [], [], {}
        self.pooled = set()
        self.shapes = {node.name: node.shape for node in nodes}
        self.is_nchw = any(node.op in self.WINDOWS for node in nodes)
        filters = {node.operands[1]: node for node in nodes if node.op in self.WINDOWS - {"ReduceWindow"}}
        arrays = made_up(nodes)
        if any(node.op == "Scan" for node in nodes):
            outputs = self.lstm(nodes, arrays)
        else:
            for node in nodes:
                self.add(node, arrays, filters)
        self.take_in_scales()
        kind = helper.np_dtype_to_tensor_dtype
        ports = [helper.make_tensor_value_info(name, kind(x.dtype), x.shape) for name, x in self.inputs.items()]
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "workload", ports, results, self.initializers)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        self.bytes = self.model.SerializeToString()

    def constant(self, name, array):
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, operands, *results, **attrs):
        from onnx import helper

        self.nodes.append(helper.make_node(op, operands, list(results), **attrs))

    def lstm(self, nodes, arrays):
        """The layer of `nodes` as one node, weights made up again: its results."""
        x, w, r, b = [node for node in nodes if node.op == "Input"]
        units = r.shape[0]
        self.inputs[x.name] = arrays[x.name][:, np.newaxis, :]
        for node in [w, r]:
            self.constant(node.name, np.ascontiguousarray(arrays[node.name].T[np.newaxis]))
        both = np.concatenate([arrays[b.name], np.zeros_like(arrays[b.name])])
        self.constant(b.name, both[np.newaxis])
        self.node("LSTM", [x.name, w.name, r.name, b.name], "y", "y_h", "y_c", hidden_size=units)
        return ["y", "y_h", "y_c"]

    @staticmethod
    def sliding(at, spatial):
        """The attributes of windows that slide over `spatial` dimensions."""
        names = {"strides": [1] * spatial, "dilations": [1] * spatial, "pads": [0] * (2 * spatial)}
        return {name: at.get(name) or unit for name, unit in names.items()}

    def add(self, node, arrays, filters):
        a, at, result = node.operands, node.attrs, node.name

        def numbers(key):
            return self.constant(f"{result}.{key}", np.array(at[key], dtype=np.int64))

        match node.op:
            case "Input":
                self.port(node, arrays[node.name], filters)
            case "ConstTensor":
                self.constant(result, np.float32(at["fill"]))
            case op if op in self.SAME:
                self.node(op, a, result)
            case "Reshape" if self.is_nchw and len(at["new_shape"]) == 6:
                # Squares of two by two places, whose mean follows.
                self.node("AveragePool", a, result, kernel_shape=[2, 2], strides=[2, 2])
                self.pooled.add(result)
            case "Reshape":
                self.node("Reshape", [a[0], numbers("new_shape")], result)
            case "Mean" if a[0] in self.pooled:
                self.node("Identity", a, result)
            case "Mean":
                self.node("ReduceMean", [a[0], numbers("axes")], result, keepdims=int(at.get("keepdims") == "true"))
            case "Transpose":
                self.node("Transpose", a, result, perm=at["permutation"])
            case "Softmax":
                self.node("Softmax", a, result, axis=at["axis"])
            case "LayerNorm":
                self.node("LayerNormalization", a, result, axis=-1)
            case "Slice":
                self.node("Slice", [a[0], numbers("starts"), numbers("ends")], result)
            case "Concat":
                self.node("Concat", a, result, axis=at["axis"])
            case "ExpandDims":
                self.node("Unsqueeze", [a[0], numbers("axes")], result)
            case "Conv" | "ConvTranspose":
                spatial = len(self.shapes[a[1]]) - 2
                self.node(op, a, result, group=at.get("groups", 1), **self.sliding(at, spatial))
            case "ReduceWindow":
                inner = slice(1, -1)
                kind = {"max": "MaxPool", "mean": "AveragePool"}[at["kind"]]
                sizes = {"kernel_shape": at["window"][inner], "strides": at["strides"][inner]}
                self.node(kind, a, result, pads=at["low"][inner] + at["high"][inner], **sizes)
            case "Compare":
                self.node({"lt": "Less"}[at["direction"]], a, result)
            case "Select":
                self.node("Where", a, result)
            case "TopK":
                count = self.constant(f"{result}.k", np.array([at["k"]], dtype=np.int64))
                self.node("TopK", [a[0], count], result, *node.others, axis=at["axis"])
            case "DotGeneral" if at["lhs_contract"] == [1] and at["rhs_contract"] == [0]:
                self.node("MatMulInteger", a, result)
            case "Conv2d":
                pads = {"auto_pad": "SAME_UPPER"} if at["padding"] == "same" else {}
                self.node("Conv", a, result, strides=at["strides"], **pads)
            case op:
                raise NotImplementedError(op)

    def take_in_scales(self):
        """Makes the product and the sum behind a normalisation, ops of their own in Core, its scale and its shift."""
        for norm in [node for node in self.nodes if node.op_type == "LayerNormalization"]:
            for op in ["Mul", "Add"]:
                last = norm.output[0]
                [user] = [node for node in self.nodes if node.op_type == op and last in node.input]
                norm.input.extend(name for name in user.input if name != last)
                norm.output[0] = user.output[0]
                self.nodes.remove(user)

    def port(self, node, array, filters):
        last = array.ndim - 1
        if self.is_nchw and node.name in filters:
            array = array.transpose(last, last - 1, *range(last - 1))
        elif self.is_nchw and array.ndim in [3, 4]:
            array = array.transpose(0, last, *range(1, last))
        elif self.is_nchw and node.attrs["name"].startswith("bias") and array.size < 32:
            array = array.reshape(-1, 1, 1)
        array = np.ascontiguousarray(array)
        if node.is_param:
            self.constant(node.name, array)
        else:
            self.inputs[node.name] = array


def onnx_runtime(nodes, outputs, threads):
    import onnxruntime

    model = Onnx(nodes, outputs)
    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.bytes, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in model.inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for port, result in zip(session.get_outputs(), session.run(None, model.inputs)):
        room = onnxruntime.OrtValue.ortvalue_from_numpy(np.empty_like(result))
        binding.bind_ortvalue_output(port.name, room)
    return lambda: session.run_with_iobinding(binding)


def open_vino(nodes, outputs, threads):
    import openvino

    model = Onnx(nodes, outputs)
    core = openvino.Core()
    config = {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = core.compile_model(core.read_model(model.bytes), "CPU", config).create_infer_request()
    for name, array in model.inputs.items():
        request.set_tensor(name, openvino.Tensor(array))
    return request.infer


def jax_xla(nodes, outputs, _):
    import jax
    import jax.numpy as jnp

    def layer_norm(x, _):
        middle = x - jnp.mean(x, -1, keepdims=True)
        return middle * jax.lax.rsqrt(jnp.mean(middle * middle, -1, keepdims=True) + 1e-5)

    ops = {
        "ConstTensor": lambda at: jnp.float32(at["fill"]),
        "MatMul": lambda x, y, at: jnp.matmul(x, y),
        "Add": lambda x, y, at: x + y,
        "Sub": lambda x, y, at: x - y,
        "Mul": lambda x, y, at: x * y,
        "Div": lambda x, y, at: x / y,
        "Neg": lambda x, at: -x,
        "Relu": lambda x, at: jnp.maximum(x, 0),
        "Sqrt": lambda x, at: jnp.sqrt(x),
        "Sigmoid": lambda x, at: jax.nn.sigmoid(x),
        "Tanh": lambda x, at: jnp.tanh(x),
        "Gelu": lambda x, at: jax.nn.gelu(x, approximate=False),
        "Reshape": lambda x, at: x.reshape(at["new_shape"]),
        "Transpose": lambda x, at: x.transpose(at["permutation"]),
        "Softmax": lambda x, at: jax.nn.softmax(x, axis=at["axis"]),
        "Mean": lambda x, at: jnp.mean(x, axis=tuple(at["axes"]), keepdims=at.get("keepdims") == "true"),
        "LayerNorm": layer_norm,
        "Slice": lambda x, at: jax.lax.slice(x, at["starts"], at["ends"]),
        "Concat": lambda *xs: jnp.concatenate(xs[:-1], axis=xs[-1]["axis"]),
        "ExpandDims": lambda x, at: jnp.expand_dims(x, at["axes"]),
        "Conv2d": lambda x, y, at: jax.lax.conv_general_dilated(
            x, y, at["strides"], at["padding"].upper(), dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
    }

    for node in nodes:
        if node.op != "Input" and node.op not in ops:
            raise NotImplementedError(node.op)

    def run(values):
        values = dict(values)
        for node in nodes:
            if node.op != "Input":
                values[node.name] = ops[node.op](*(values[name] for name in node.operands), node.attrs)
        return [values[name] for name in outputs]

    jitted, arrays = jax.jit(run), {name: jax.device_put(array) for name, array in made_up(nodes).items()}
    return lambda: jax.block_until_ready(jitted(arrays))


def numpy_product(nodes, outputs, _):
    [product] = [node for node in nodes if node.op != "Input"]
    if product.op != "MatMul":
        raise NotImplementedError(product.op)
    arrays = made_up(nodes)
    lhs, rhs = (arrays[name] for name in product.operands)
    result = np.empty((lhs.shape[0], rhs.shape[1]), np.float32)
    return lambda: np.matmul(lhs, rhs, out=result)


PEERS = {"ort": onnx_runtime, "openvino": open_vino, "jax": jax_xla, "numpy": numpy_product}


# What a call costs: next to nothing is computed.
CALL = [
    Node("%0", "Input", [], {"name": "x"}, [1], "f32", []),
    Node("%1", "Add", ["%0", "%0"], {}, [1], "f32", []),
]


class Peer:
    """A workload in another compiler."""

    def __init__(self, call):
        self.call = call
        started = time.perf_counter()
        for _ in range(3):
            call()
        # A batch is long enough for the clock.
        once = (time.perf_counter() - started) / 3
        self.batch = max(1, int(0.01 / max(once, 1e-7)))

    def turn(self, seconds):
        """The median of one turn, in microseconds."""
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or len(times) < 3:
            started = time.perf_counter()
            for _ in range(self.batch):
                self.call()
            times.append((time.perf_counter() - started) / self.batch * 1e6)
        return statistics.median(times)


class Ours:
    """A workload in this compiler, in a process that measures once for each line it is sent."""

    def __init__(self, program, name, threads):
        command = [program, name, "--turns", "--quick", "--threads", str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def turn(self, _):
        """The median of one turn, in microseconds."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def in_turns(contestants, turns, seconds):
    """The medians of all turns of each."""
    found = {name: [] for name in contestants}
    for _ in range(turns):
        for name, one in contestants.items():
            found[name].append(one.turn(seconds))
            # Threads that wait for the next call by spinning give the processor back.
            time.sleep(0.02)
    return found


def processor():
    """What the system calls the processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", help="the program that prints and runs them")
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of the name of a workload; all unless given")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default=",".join(PEERS), help="which, of " + ", ".join(PEERS))
    parser.add_argument("--turns", type=int, default=15, help="how often each is measured")
    parser.add_argument("--seconds", type=float, default=0.05, help="for each peer and turn")
    parser.add_argument("--json", metavar="FILE", help="where the figures go")
    args = parser.parse_intermixed_args()
    # Libraries read these when they are loaded; threads that compute stay on as many processors.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(args.threads)
    # Two to the power of this many cycles pass before its threads sleep: they are not to take the turns of others.
    os.environ["OPENBLAS_THREAD_TIMEOUT"] = "20"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
    global np
    import numpy as np

    rows = []
    for name, nodes, outputs in [("call", CALL, ["%1"]), *modules(args.workloads, args.names)]:
        print(f"{name:22}", end="", flush=True)
        contestants = {} if name == "call" else {"ours": Ours(args.workloads, name, args.threads)}
        for peer in args.peers.split(","):
            try:
                contestants[peer] = Peer(PEERS[peer](nodes, outputs, args.threads))
            except (NotImplementedError, ValueError) as why:
                if peer != "numpy":
                    print(f"  {peer}: {why}", file=sys.stderr)
        found = in_turns(contestants, args.turns, args.seconds)
        if "ours" in contestants:
            contestants["ours"].close()
        for who, times in found.items():
            print(f"  {who} {statistics.median(times):10.1f} ({min(times):.1f})", end="")
        print(flush=True)
        rows.append({"name": name, "us": found})
    if args.json:
        report = {"processor": processor(), "threads": args.threads, "turns": args.turns, "rows": rows}
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
