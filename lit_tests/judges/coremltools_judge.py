"""Loads packages with coremltools and runs its value inference.

usage: coremltools_judge.py PACKAGE [INPUTS.npz OUTPUTS.npz]

Without arrays the package is loaded, which checks types, shapes, arguments and constants. With arrays every
input becomes a constant of those numbers, and what coremltools infers for the outputs is written. An output
that it cannot infer is left out and named on stderr. Exit status 1: the package was refused.
"""

import sys
import warnings

warnings.filterwarnings("ignore")


def main(arguments):
    import logging

    logging.disable(logging.CRITICAL)
    import numpy as np
    import coremltools
    from coremltools.converters.mil.frontend.milproto import load

    folder = arguments[0] + "/Data/com.apple.CoreML"
    model = coremltools.proto.Model_pb2.Model()
    with open(folder + "/model.mlmodel", "rb") as file:
        model.ParseFromString(file.read())
    names = [feature.name for feature in model.description.output]
    if len(arguments) > 1:
        bind(model, np.load(arguments[1]))
    program = load.load(
        model,
        specification_version=model.specificationVersion,
        file_weights_dir=folder + "/weights",
    )
    if len(arguments) > 2:
        outputs = program.functions["main"].outputs
        known = {name: value.val for name, value in zip(names, outputs) if value.val is not None}
        for name in names:
            if name not in known:
                print("not inferred: " + name, file=sys.stderr)
        np.savez(arguments[2], **{str(at): known[name] for at, name in enumerate(names) if name in known})
    print("loaded " + arguments[0])


def bind(model, arrays):
    """Replaces every input of the program by a constant."""
    for function in model.mlProgram.functions.values():
        inputs = list(function.inputs)
        del function.inputs[:]
        for block in function.block_specializations.values():
            operations = list(block.operations)
            del block.operations[:]
            for given in inputs:
                constant = block.operations.add()
                constant.type = "const"
                constant.outputs.add().CopyFrom(given)
                fill(constant.attributes["val"], given.type, arrays[given.name])
                fill_name(constant.attributes["name"], given.name)
            for operation in operations:
                block.operations.add().CopyFrom(operation)


def fill(value, ty, array):
    value.type.CopyFrom(ty)
    tensor = value.immediateValue.tensor
    kind = str(array.dtype)
    if kind == "float32":
        tensor.floats.values.extend(array.ravel().tolist())
    elif kind in ("int16", "uint16", "int32"):
        tensor.ints.values.extend(array.ravel().tolist())
    else:
        tensor.bytes.values = array.tobytes()


def fill_name(value, name):
    value.type.tensorType.dataType = 2
    value.immediateValue.tensor.strings.values.append(name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1:])
