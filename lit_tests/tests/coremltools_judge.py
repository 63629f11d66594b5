"""Loads packages with coremltools and runs its value inference.

usage: coremltools_judge.py FOLDER

For each NAME.mlpackage in the folder: the package is loaded, which checks types, shapes, arguments and
constants. Where NAME.in.npz stands beside it, every input becomes a constant of those numbers, and what
coremltools infers for the outputs is written to NAME.out.npz, under their positions; outputs that it cannot
infer are left out. Prints a line for each package: `ok NAME` or `refused NAME: why`, and `uninferred NAME: why`
where its value inference breaks off; and for each input that takes several shapes, as the description has it,
`shapes NAME INPUT DEFAULT of SHAPE..`, a range of extents as `1..32`.
"""

import os
import sys
import warnings

warnings.filterwarnings("ignore")


def main(folder):
    import logging

    logging.disable(logging.CRITICAL)
    import numpy as np
    import coremltools
    from coremltools.converters.mil.frontend.milproto import load

    for entry in sorted(os.listdir(folder)):
        name, extension = os.path.splitext(entry)
        if extension != ".mlpackage":
            continue
        path = os.path.join(folder, name)
        try:
            model = loaded(path, coremltools, load)
            print("ok " + name)
            for line in described(model):
                print("shapes " + name + " " + line)
        except Exception as error:  # whatever it raises means that it refuses
            print("refused " + name + ": " + text(error))
            continue
        try:
            infer(path, model, np, load)
        except Exception as error:  # its value inference has faults of its own
            print("uninferred " + name + ": " + text(error))


def text(error):
    return type(error).__name__ + ": " + " ".join(str(error).split())[:200]


def loaded(path, coremltools, load):
    data = path + ".mlpackage/Data/com.apple.CoreML"
    model = coremltools.proto.Model_pb2.Model()
    with open(data + "/model.mlmodel", "rb") as file:
        model.ParseFromString(file.read())
    load.load(model, specification_version=model.specificationVersion, file_weights_dir=data + "/weights")
    return model


def described(model):
    for given in model.description.input:
        array = given.type.multiArrayType
        kind = array.WhichOneof("ShapeFlexibility")
        if kind == "enumeratedShapes":
            shapes = [listed(own.shape) for own in array.enumeratedShapes.shapes]
        elif kind == "shapeRange":
            ranges = array.shapeRange.sizeRanges
            shapes = [listed("%d..%d" % (own.lowerBound, own.upperBound) for own in ranges)]
        else:
            continue
        yield " ".join([given.name, listed(array.shape), "of"] + shapes)


def listed(items):
    return ",".join(str(item) for item in items)


def infer(path, model, np, load):
    weights = path + ".mlpackage/Data/com.apple.CoreML/weights"
    if not os.path.exists(path + ".in.npz"):
        return
    bind(model, np.load(path + ".in.npz"))
    program = load.load(model, specification_version=model.specificationVersion, file_weights_dir=weights)
    default = model.description.defaultFunctionName or next(iter(program.functions))
    outputs = program.functions[default].outputs
    known = {str(at): value.val for at, value in enumerate(outputs) if value.val is not None}
    np.savez(path + ".out.npz", **known)


def bind(model, arrays):
    """Replaces every input of the program by a constant."""
    for function in model.mlProgram.functions.values():
        inputs = list(function.inputs)
        if any(given.name not in arrays for given in inputs):
            continue
        del function.inputs[:]
        for block in function.block_specializations.values():
            operations = list(block.operations)
            del block.operations[:]
            for given in inputs:
                constant = block.operations.add()
                constant.type = "const"
                constant.outputs.add().CopyFrom(given)
                settle(given.type, arrays[given.name])
                constant.outputs[0].type.CopyFrom(given.type)
                fill(constant.attributes["val"], given.type, arrays[given.name])
                name = constant.attributes["name"]
                name.type.tensorType.dataType = 2
                name.immediateValue.tensor.strings.values.append(given.name)
            for operation in operations:
                block.operations.add().CopyFrom(operation)


def settle(ty, array):
    """Gives a type the extents of an array."""
    dimensions = ty.tensorType.dimensions
    del dimensions[:]
    for extent in array.shape:
        dimensions.add().constant.size = extent


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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1])
