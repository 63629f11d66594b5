"""Judges models that were written: the checker of the package onnx, ONNX Runtime and the reference evaluator.

The folder has NAME.onnx, and NAME.in.npz and NAME.out.npz where the interpreter computes something. A line for each model
and judge: the name, the judge, `ok`, `loaded`, `lacks`, `refused` or `differs`, and why. Models before the first name that is
given are left out. Arrays of bfloat16 are written as their bits.
"""

import glob
import os
import re
import sys
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

BFLOAT16 = onnx.TensorProto.BFLOAT16
# How far an element may be off, in parts of one more than the largest of a result.
TOLERANCE = {"float64": 1e-4, "float32": 1e-4, "float16": 2e-2, "bfloat16": 8e-2}


def arrays(path, types):
    with np.load(path) as archive:
        read = {name: archive[name] for name in archive.files}
    return {
        name: own.view(ml_dtypes.bfloat16) if types.get(name) == BFLOAT16 else own for name, own in read.items()
    }


def difference(wanted, found):
    """Where a result is not what the interpreter computes; None if it is."""
    found = np.asarray(found)
    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return f"{found.dtype}{list(found.shape)} is not {wanted.dtype}{list(wanted.shape)}"
    a, b = wanted.astype(np.float64), found.astype(np.float64)
    usual = np.isfinite(a) & np.isfinite(b)
    if wanted.dtype.name not in TOLERANCE:
        far = np.count_nonzero(a != b)
        return "elements differ" if far else None
    size = np.max(np.abs(a[usual]), initial=0.0)
    far = np.count_nonzero(np.abs(a - b)[usual] > TOLERANCE[wanted.dtype.name] * (1 + size))
    return "elements differ" if far else None


def types(values):
    return {own.name: own.type.tensor_type.elem_type for own in values}


def reason(error):
    line = re.sub(r"\s+", " ", str(error)).strip()
    line = re.sub(r"^\[ONNXRuntimeError\] : \d+ : ", "", line)
    line = re.sub(r"\(?(node_name|node with name|Node):? ?\(?'?[\w./-]*'?\)?,?", "", line)
    return line[:200]


def compared(run, wanted):
    """The verdict on what an engine computes."""
    try:
        results = run()
    except Exception as error:
        why = reason(error)
        lacks = "No corresponding Numpy type" in why
        return "lacks" if lacks else "refused", f"{type(error).__name__}: {why}"
    for expected, found in zip(wanted, results):
        if getattr(found, "dtype", None) == np.uint16 and expected.dtype == ml_dtypes.bfloat16:
            found = found.view(ml_dtypes.bfloat16)
        why = difference(expected, found)
        if why is not None:
            return "differs", why
    return "ok", ""


def runtime(path, model, given, wanted):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        why = reason(error)
        missing = re.search(r"Could not find an implementation for (\w+\(\d+\))", why)
        return ("lacks", f"no kernel for {missing[1]}") if missing else ("refused", why)
    if given is None:
        return "loaded", ""
    has_product = any(node.op_type == "MatMulInteger" for node in model.graph.node)
    if has_product and any(own.size == 0 for own in given.values()):
        return "lacks", "MatMulInteger over no terms leaves its result as memory was"

    def run():
        feeds = {}
        for name, own in given.items():
            if own.dtype == ml_dtypes.bfloat16:
                bits = own.view(np.uint16)
                feeds[name] = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, BFLOAT16)
            else:
                feeds[name] = onnxruntime.OrtValue.ortvalue_from_numpy(own)
        names = [own.name for own in model.graph.output]
        return [own.numpy() for own in session.run_with_ort_values(names, feeds)]

    return compared(run, wanted)


def judged(folder, name):
    path = os.path.join(folder, name + ".onnx")
    model = onnx.load(path)
    try:
        onnx.checker.check_model(model, full_check=True)
        yield "checker", "ok", ""
    except Exception as error:
        yield "checker", "refused", reason(error)
    given = wanted = None
    if os.path.exists(os.path.join(folder, name + ".in.npz")):
        given = arrays(os.path.join(folder, name + ".in.npz"), types(model.graph.input))
        of = {f"out{at}": own.type.tensor_type.elem_type for at, own in enumerate(model.graph.output)}
        computed = arrays(os.path.join(folder, name + ".out.npz"), of)
        wanted = [computed[own] for own in of]
    yield "ONNX Runtime", *runtime(path, model, given, wanted)
    if given is not None:
        run = lambda: ReferenceEvaluator(model).run(None, given)
        yield "reference", *compared(run, wanted)


def main(folder, first=""):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
        name = os.path.basename(path)[: -len(".onnx")]
        if name < first:
            continue
        print(name, "begins", flush=True)
        for verdict in judged(folder, name):
            print(name, *verdict, sep="\t", flush=True)


main(*sys.argv[1:])
