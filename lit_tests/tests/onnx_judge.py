"""Writes the backend tests of the package onnx into a folder: models, inputs and what they give.

With a second folder, which has old versions of the package unpacked in folders named after them, the tests of nodes that
these have are written instead, each once; their group is the version that has them first.

One line a test in the file `tests`: a number, the group, the name, both tolerances, the number of sets of data, and for each
input and each output its name and its element type. Arrays of bfloat16 are written as their bits. Without arrays of numbers
a line ends with `-` and the reason.

The argument `--groups=NAME,...` selects groups of tests; all of them are written by default.

The file `operators` has a line for each operator of a test: its domain, its name and the number of the test.
"""

import collections
import glob
import hashlib
import os
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnx_judge_fused  # noqa: E402

GROUPS = ["node", "simple", "pytorch-operator", "pytorch-converted", "real"]


# A test of an old version, with the tolerances that its runner had.
Old = collections.namedtuple("Old", "name model_dir model data_sets rtol atol", defaults=(None, None, 1e-3, 1e-7))


class NoTensor(Exception):
    """Values that are no tensors of numbers that core has."""


def tensor(path):
    with open(path, "rb") as file:
        proto = onnx.TensorProto()
        proto.ParseFromString(file.read())
    return numpy_helper.to_array(proto)


def light(test):
    """A model of a known architecture with constant weights, its input counted up from 0 to 1, and the output beside it."""
    path = os.path.join(os.path.dirname(onnx.__file__), "..", test.url)
    model = onnx.load(path)
    known = {own.name for own in model.graph.initializer}
    inputs = []
    for own in model.graph.input:
        if own.name not in known:
            shape = [max(dim.dim_value, 1) for dim in own.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    outputs = [tensor(f"{path[:-5]}_output_{at}.pb") for at in range(len(model.graph.output))]
    return model, [(inputs, outputs)]


def stored(test):
    """A model in a folder, with its sets of data."""
    model = onnx.load(os.path.join(test.model_dir, "model.onnx"))
    sets = []
    for folder in sorted(glob.glob(os.path.join(test.model_dir, "test_data_set_*"))):
        count = lambda kind: len(glob.glob(os.path.join(folder, kind + "_*.pb")))
        read = lambda kind: [tensor(os.path.join(folder, f"{kind}_{at}.pb")) for at in range(count(kind))]
        sets.append((read("input"), read("output")))
    return model, sets


def cases(test):
    if test.model is not None:
        return test.model, test.data_sets
    return stored(test) if test.model_dir is not None else light(test)


def kind_of(value):
    """What a value is, if it is no tensor of a model."""
    return value.type.WhichOneof("value")[: -len("_type")]


def check(model):
    """Raises the reason if a value of the model is none that core has."""
    for own in list(model.graph.input) + list(model.graph.output):
        kind = kind_of(own)
        if kind != "tensor":
            raise NoTensor(f"`{own.name}` is of type {kind}")
        name = onnx.TensorProto.DataType.Name(own.type.tensor_type.elem_type).lower()
        if name == "string" or name.startswith(("float8", "float4", "int4", "uint4", "int2", "uint2", "complex")):
            raise NoTensor(f"`{own.name}` has elements of type {name}")


def plain(value):
    """An array of a type that files of numpy have, and the name of its type."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    array = np.asarray(value)
    name = array.dtype.name
    if name == "bfloat16":
        return array.view(np.uint16), name
    if array.dtype.kind not in "biuf" or name not in np.sctypeDict:
        raise NoTensor(f"an array of {name}")
    return array, name


def written(folder, number, model, sets):
    """Writes a test; the names and types of its arrays."""
    check(model)
    known = {own.name for own in model.graph.initializer}
    names = [own.name for own in model.graph.input if own.name not in known]
    onnx.save(model, os.path.join(folder, f"{number}.onnx"))
    fields = [str(len(sets))]
    for at, (inputs, outputs) in enumerate(sets):
        inputs, outputs = [plain(own) for own in inputs], [plain(own) for own in outputs]
        named = dict(zip(names, (own[0] for own in inputs)))
        np.savez(os.path.join(folder, f"{number}.{at}.in.npz"), **named)
        np.savez(os.path.join(folder, f"{number}.{at}.out.npz"), **{f"out{at}": own[0] for at, own in enumerate(outputs)})
        if at == 0:
            fields += [f"i:{name}:{own[1]}" for name, own in zip(names, inputs)]
            fields += [f"o:out{at}:{own[1]}" for at, own in enumerate(outputs)]
    return fields


def digest(folder):
    """What tells the files of a test from those of another one."""
    own = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(folder, "**", "*.*"), recursive=True)):
        with open(path, "rb") as file:
            own.update(file.read())
    return own.digest()


def old(packages):
    """The tests of nodes of old versions of the package."""
    tests, known = [], set()
    order = lambda version: [int(part) for part in version.split(".")]
    for version in sorted(os.listdir(packages), key=order):
        data = os.path.join(packages, version, "onnx", "backend", "test", "data", "node")
        for path in sorted(glob.glob(os.path.join(data, "*", "model.onnx"))):
            own = os.path.dirname(path)
            if digest(own) not in known:
                known.add(digest(own))
                tests.append((version, Old(os.path.basename(own), own)))
    return tests


def current(groups):
    tests = [(group, test) for group in groups for test in loader.load_model_tests(kind=group)]
    return tests + [("com.microsoft", test) for test in onnx_judge_fused.tests()]


def main(folder, packages=None, groups=GROUPS):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    lines, operators = [], []
    tests = current(groups) if packages is None else old(packages)
    for number, (group, test) in enumerate(tests):
        fields = [str(number), group, test.name, repr(float(test.rtol)), repr(float(test.atol))]
        try:
            model, sets = cases(test)
            used = {(node.domain, node.op_type) for node in model.graph.node}
            operators += [f"{domain}\t{name}\t{number}" for domain, name in sorted(used)]
            fields += written(folder, number, model, sets)
        except NoTensor as why:
            fields += ["-", str(why)]
        except Exception:  # Sequences and optional values are in other messages.
            fields += ["-", "its data are no tensors"]
        lines.append("\t".join(fields))
    for name, own in [("tests", lines), ("operators", operators)]:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(own) + "\n")


SELECTED = [own for own in sys.argv[1:] if own.startswith("--groups=")]
main(
    *(own for own in sys.argv[1:] if own not in SELECTED),
    groups=SELECTED[-1].partition("=")[2].split(",") if SELECTED else GROUPS,
)
