"""Writes the backend tests of the package onnx into a folder: models, inputs and what they give.

One line a test in the file `tests`: a number, the group, the name, both tolerances, and for each input and each output its
name or `-` and its element type. Arrays of bfloat16 are written as their bits.
"""

import glob
import os
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader

GROUPS = ["node", "simple", "pytorch-operator", "pytorch-converted", "real"]


def tensor(path):
    with open(path, "rb") as file:
        proto = onnx.TensorProto()
        proto.ParseFromString(file.read())
    return numpy_helper.to_array(proto)


def cases(test):
    """The model and the first set of data; later sets of data have other numbers alone."""
    if test.model_dir is None:
        return test.model, test.data_sets[0]
    model = onnx.load(os.path.join(test.model_dir, "model.onnx"))
    folder = os.path.join(test.model_dir, "test_data_set_0")
    count = lambda kind: len(glob.glob(os.path.join(folder, kind + "_*.pb")))
    read = lambda kind: [tensor(os.path.join(folder, f"{kind}_{at}.pb")) for at in range(count(kind))]
    return model, (read("input"), read("output"))


def plain(value):
    """An array of a type that files of numpy have, and the name of its type; None for what is no tensor of numbers."""
    if isinstance(value, (list, dict, str)) or value is None:
        return None
    array = np.asarray(value)
    name = array.dtype.name
    if name == "bfloat16":
        return array.view(np.uint16), name
    if array.dtype.kind not in "biuf" or name not in np.sctypeDict:
        return None
    return array, name


def main(folder):
    warnings.simplefilter("ignore")
    lines = []
    for group in GROUPS:
        for test in loader.load_model_tests(kind=group):
            number = len(lines)
            try:
                model, (inputs, outputs) = cases(test)
                inputs, outputs = [plain(own) for own in inputs], [plain(own) for own in outputs]
                is_numeric = all(own is not None for own in inputs + outputs)
            except Exception:  # Sequences and optional values are in other messages.
                is_numeric = False
            fields = [str(number), group, test.name, repr(float(test.rtol)), repr(float(test.atol))]
            if is_numeric:
                onnx.save(model, os.path.join(folder, f"{number}.onnx"))
                names = [own.name for own in model.graph.input]
                np.savez(os.path.join(folder, f"{number}.in.npz"), **{name: own[0] for name, own in zip(names, inputs)})
                np.savez(os.path.join(folder, f"{number}.out.npz"), **{f"out{at}": own[0] for at, own in enumerate(outputs)})
                fields += [f"i:{name}:{own[1]}" for name, own in zip(names, inputs)]
                fields += [f"o:out{at}:{own[1]}" for at, own in enumerate(outputs)]
            else:
                fields.append("-")
            lines.append("\t".join(fields))
    with open(os.path.join(folder, "tests"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


main(sys.argv[1])
