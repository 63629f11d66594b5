"""Builds Core ML packages with coremltools, and compares their descriptions with those of packages that we write.

usage: coreml_interface_judge.py FOLDER TOOLS

Builds a package for each case in FOLDER, NAME.mlpackage; with mind-translate and mind-opt of the folder TOOLS a copy of it,
NAME.copy.mlpackage, and what comes of it through core and all passes, NAME.core.mlpackage; loads both with coremltools and
compares their descriptions with those of the first. Prints a line for each of the two: `same`, `differs` with what,
`refused` with why where coremltools does not load it, `unwritten` with why where we do not write it; then the counts.

Types of elements may differ between fp32 and fp16, which is what lowering decides. Through core, states and further functions
are not kept, as notes say; ranges of shapes are given again with `--flexible`. Everything else of a description must be
equal. Exits with 1 if a case is anything but `same`, or a note is missing.
"""

import os
import shutil
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def ct():
    import coremltools

    return coremltools


def program(shape, body, opset=None, names=("x",), dtype=None):
    """A program of inputs of one shape."""
    from coremltools.converters.mil import Builder as mb

    specs = [mb.TensorSpec(shape, **({"dtype": dtype} if dtype else {})) for _ in names]
    namespace = {"mb": mb, "body": body, "specs": specs, "opset": opset}
    arguments = ", ".join(names)
    text = (
        "@mb.program(input_specs=specs%s)\ndef own(%s):\n    return body(mb, %s)\n"
        % (", opset_version=opset" if opset else "", arguments, arguments)
    )
    exec(text, namespace)
    return namespace["own"]


def converted(own, **options):
    options.setdefault("minimum_deployment_target", ct().target.iOS16)
    options.setdefault("skip_model_load", True)
    options.setdefault("convert_to", "mlprogram")
    return ct().convert(own, **options)


def image(mb, x):
    return mb.relu(x=mb.mul(x=x, y=0.5), name="out")


def picture(color, channels=3, **options):
    return [ct().ImageType("x", shape=(1, channels, 16, 12), color_layout=color, **options)]


@case
def rgb():
    return converted(program((1, 3, 16, 12), image), inputs=picture("RGB"))


@case
def bgr():
    return converted(program((1, 3, 16, 12), image), inputs=picture("BGR"))


@case
def gray():
    return converted(program((1, 1, 16, 12), image), inputs=picture("G", 1))


@case
def gray_half():
    from coremltools.converters.mil.mil import types

    own = program((1, 1, 16, 12), lambda mb, x: mb.relu(x=x, name="out"), dtype=types.fp16, opset=ct().target.iOS16)
    return converted(own, inputs=picture(ct().colorlayout.GRAYSCALE_FLOAT16, 1))


@case
def rgb_scaled():
    return converted(program((1, 3, 16, 12), image), inputs=picture("RGB", scale=1 / 255.0, bias=[-0.5, 0, 0.5]))


@case
def rgb_output():
    return converted(program((1, 3, 16, 12), image), inputs=picture("RGB"), outputs=[ct().ImageType("out", color_layout="RGB")])


@case
def bgr_to_gray():
    def body(mb, x):
        return mb.reduce_mean(x=x, axes=[1], keep_dims=True, name="out")

    return converted(program((1, 3, 16, 12), body), inputs=picture("BGR"), outputs=[ct().ImageType("out", color_layout="G")])


@case
def image_and_array():
    def body(mb, x, scale):
        return mb.mul(x=x, y=scale, name="out")

    own = program((1, 3, 16, 12), body, names=("x", "scale"))
    return converted(own, inputs=picture("RGB") + [ct().TensorType("scale", shape=(1, 3, 16, 12))])


def odds(mb, x):
    x = mb.reduce_mean(x=x, axes=[2, 3], keep_dims=False)
    return mb.softmax(x=x, axis=-1, name="odds")


@case
def classifier_words():
    config = ct().ClassifierConfig(["cat", "a dog", "bird \"of\" prey"])
    return converted(program((1, 3, 8, 8), odds), classifier_config=config)


@case
def classifier_numbers():
    config = ct().ClassifierConfig([7, -1, 30])
    return converted(program((1, 3, 8, 8), odds), classifier_config=config)


@case
def classifier_named():
    config = ct().ClassifierConfig(["a", "b", "c"], predicted_feature_name="kind", predicted_probabilities_output="odds")
    return converted(program((1, 3, 8, 8), odds), classifier_config=config)


@case
def classifier_of_images():
    config = ct().ClassifierConfig(["a", "b", "c"], predicted_feature_name="kind")
    inputs = [ct().ImageType("x", shape=(1, 3, 8, 8), scale=1 / 127.5, bias=[-1, -1, -1], color_layout="BGR")]
    return converted(program((1, 3, 8, 8), odds), inputs=inputs, classifier_config=config)


@case
def metadata():
    own = converted(program((2, 3), lambda mb, x: mb.relu(x=x, name="y")))
    own.author, own.license, own.version = "Ann Author", "MIT", "1.2.3"
    own.short_description = "a relu\nof \"two\" lines"
    own.user_defined_metadata["com.example.key"] = "a value"
    own.user_defined_metadata["author"] = "of the user"
    own.input_description["x"] = "what goes in"
    own.output_description["y"] = "what comes out"
    return own


@case
def metadata_of_classifier():
    own = classifier_named()
    own.short_description = "tells cats from dogs"
    own.input_description["x"] = "features"
    own.output_description["kind"] = "the most probable class"
    return own


@case
def output_names():
    def body(mb, x):
        return mb.relu(x=x, name="classes"), mb.tanh(x=x, name="embedding"), mb.sigmoid(x=x, name="z_0")

    return converted(program((2, 3), body))


@case
def several_of_one_op():
    def body(mb, x):
        first, second = mb.split(x=x, num_splits=2, axis=1, name="halves")
        return second, mb.relu(x=first, name="positive")

    return converted(program((2, 4), body))


@case
def indices():
    from coremltools.converters.mil.mil import types

    def body(mb, x):
        import numpy as np

        table = np.arange(20, dtype=np.float32).reshape(10, 2)
        return mb.gather(x=table, indices=x, axis=0, name="rows")

    return converted(program((4,), body, dtype=types.int32))


def ranged(mb, x):
    return mb.relu(x=mb.add(x=x, y=1.0), name="y")


@case
def range_of_batches():
    inputs = [ct().TensorType("x", shape=ct().Shape((ct().RangeDim(1, 8), 4)))]
    return converted(program((ct_symbol(), 4), ranged), inputs=inputs)


@case
def range_with_default():
    inputs = [ct().TensorType("x", shape=ct().Shape((ct().RangeDim(1, 8, default=3), 4)))]
    return converted(program((ct_symbol(), 4), ranged), inputs=inputs)


@case
def range_of_two():
    inputs = [ct().TensorType("x", shape=ct().Shape((ct().RangeDim(1, 8), ct().RangeDim(2, 16))))]
    return converted(program((ct_symbol(), ct_symbol()), ranged), inputs=inputs)


@case
def ranges_of_two_inputs():
    def body(mb, x, z):
        return mb.concat(values=(mb.relu(x=x), mb.tanh(x=z)), axis=0, name="y")

    names = ("x", "z")
    shapes = [ct().Shape((ct().RangeDim(1, 8), 4)), ct().Shape((ct().RangeDim(2, 6), 4))]
    inputs = [ct().TensorType(name, shape=shape) for name, shape in zip(names, shapes)]
    return converted(program((ct_symbol(), 4), body, names=names), inputs=inputs)


@case
def enumerated():
    shapes = ct().EnumeratedShapes(shapes=[[2, 4], [4, 4], [8, 4]], default=[4, 4])
    return converted(program((ct_symbol(), 4), ranged), inputs=[ct().TensorType("x", shape=shapes)])


@case
def range_of_images():
    shape = ct().Shape((1, 3, ct().RangeDim(16, 64), ct().RangeDim(16, 64)))
    inputs = [ct().ImageType("x", shape=shape, color_layout="RGB")]
    return converted(program((1, 3, ct_symbol(), ct_symbol()), image), inputs=inputs)


@case
def enumerated_images():
    shape = ct().EnumeratedShapes(shapes=[[1, 3, 16, 16], [1, 3, 32, 24]])
    inputs = [ct().ImageType("x", shape=shape, color_layout="BGR")]
    return converted(program((1, 3, ct_symbol(), ct_symbol()), image), inputs=inputs)


def ct_symbol():
    from coremltools.converters.mil.mil import get_new_symbol

    return get_new_symbol()


def with_state():
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import types

    specs = [mb.TensorSpec((2, 3), dtype=types.fp16), mb.StateTensorSpec((2, 3), dtype=types.fp16)]

    @mb.program(input_specs=specs, opset_version=ct().target.iOS18)
    def own(x, memory):
        held = mb.read_state(input=memory)
        total = mb.add(x=held, y=x)
        mb.coreml_update_state(state=memory, value=total)
        return mb.relu(x=total, name="y")

    return own


@case
def state():
    return converted(with_state(), minimum_deployment_target=ct().target.iOS18)


@case
def palettised():
    import numpy as np

    def body(mb, x):
        weight = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
        return mb.linear(x=x, weight=weight, name="y")

    own = converted(program((2, 64), body))
    import coremltools.optimize.coreml as cto

    config = cto.OptimizationConfig(global_config=cto.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=16))
    return cto.palettize_weights(own, config)


@case
def quantised_weights():
    import numpy as np

    def body(mb, x):
        weight = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
        return mb.linear(x=x, weight=weight, name="y")

    own = converted(program((2, 64), body))
    import coremltools.optimize.coreml as cto

    config = cto.OptimizationConfig(global_config=cto.OpLinearQuantizerConfig(mode="linear_symmetric", weight_threshold=16))
    return cto.linear_quantize_weights(own, config)


def function_of(name, body, folder):
    own = converted(program((2, 3), body), minimum_deployment_target=ct().target.iOS18)
    path = os.path.join(folder, name + ".part.mlpackage")
    own.save(path)
    return path


def multifunction(folder):
    """Two functions, the default of which is not called `main`."""
    first = function_of("encode", lambda mb, x: mb.relu(x=x, name="y"), folder)
    second = function_of("decode", lambda mb, x: mb.tanh(x=x, name="z"), folder)
    described = ct().utils.MultiFunctionDescriptor()
    described.add_function(first, src_function_name="main", target_function_name="encode")
    described.add_function(second, src_function_name="main", target_function_name="decode")
    described.default_function_name = "encode"
    path = os.path.join(folder, "multifunction.mlpackage")
    ct().utils.save_multifunction(described, path)
    for part in (first, second):
        shutil.rmtree(part)


def build(folder):
    os.makedirs(folder, exist_ok=True)
    for name, function in CASES.items():
        path = os.path.join(folder, name + ".mlpackage")
        if os.path.exists(path):
            continue
        try:
            function().save(path)
            print("built " + name)
        except Exception as error:
            print("unbuilt " + name + ": " + text(error))
    try:
        if not os.path.exists(os.path.join(folder, "multifunction.mlpackage")):
            multifunction(folder)
        print("built multifunction")
    except Exception as error:
        print("unbuilt multifunction: " + text(error))


def text(error):
    return type(error).__name__ + ": " + " ".join(str(error).split())[:200]


def specification(path):
    model = ct().proto.Model_pb2.Model()
    with open(os.path.join(path, "Data/com.apple.CoreML/model.mlmodel"), "rb") as file:
        model.ParseFromString(file.read())
    return model


def plain(description):
    """The description, with fp32 and fp16 alike."""
    own = type(description)()
    own.CopyFrom(description)
    arrays = ct().proto.FeatureTypes_pb2.ArrayFeatureType
    for features in [own.input, own.output, own.state] + [
        part for function in own.functions for part in (function.input, function.output, function.state)
    ]:
        for feature in features:
            kind = feature.type.WhichOneof("Type")
            array = {"multiArrayType": feature.type.multiArrayType}.get(kind)
            if array is not None and array.dataType == arrays.FLOAT16:
                array.dataType = arrays.FLOAT32
    return own


# What `--flexible` is given for the packages whose shapes are open.
FLEXIBLE = {
    "range_of_batches": ["x_0=1..8"],
    "range_with_default": ["x_0=1..8"],
    "range_of_two": ["x_0=1..8", "x_1=2..16"],
    "ranges_of_two_inputs": ["x_0=1..8", "z_0=2..6"],
    "enumerated": ["x_0=2,4,8"],
    "range_of_images": ["x_2=16..64", "x_3=16..64"],
    "enumerated_images": ["x_2=16,32", "x_3=16,24"],
}

# The notes that must be there through core.
NOTES = {
    "state": "becomes an input and an output",
    "multifunction": "is left out",
    "palettised": "expanded",
    "quantised_weights": "expanded",
}

# Descriptions that differ through core, and the notes that say so.
EXCUSED = {
    "state": "the state is an input and an output",
    "multifunction": "one function is left",
    "range_with_default": "the default shape is the first of the range",
    "enumerated": "the default shape is the first of the list",
    "enumerated_images": "sizes are listed in pairs, dimensions each alone",
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def written(folder, name, tools):
    """Writes both packages of ours; why not, by kind."""
    source = os.path.join(folder, name + ".mlpackage")
    translate, opt = os.path.join(tools, "mind-translate"), os.path.join(tools, "mind-opt")
    refused, notes = {}, ""
    for kind in ("copy", "core"):
        target = os.path.join(folder, name + "." + kind + ".mlpackage")
        shutil.rmtree(target, ignore_errors=True)
        given = source
        options = []
        if kind == "core":
            given = os.path.join(folder, name + ".core")
            code, printed, notes = run([opt, "--import-mil", "-O2", "--to", "core", source])
            if code:
                refused[kind] = notes
                continue
            with open(given, "w") as file:
                file.write(printed)
            options = [word for one in FLEXIBLE.get(name, []) for word in ("--flexible", one)]
        code, _, errors = run([translate, *options, "--to", "mlpackage", "-o", target, given])
        if code:
            refused[kind] = errors
    return refused, notes


def compare(folder, name, kind):
    from coremltools.converters.mil.frontend.milproto import load

    path = os.path.join(folder, name + "." + kind + ".mlpackage")
    theirs = specification(os.path.join(folder, name + ".mlpackage"))
    ours = specification(path)
    try:
        weights = os.path.join(path, "Data/com.apple.CoreML/weights")
        load.load(ours, specification_version=ours.specificationVersion, file_weights_dir=weights)
    except Exception as error:
        return "refused", text(error)
    found = list(differences(theirs, ours))
    return ("differs", "; ".join(found)) if found else ("same", "")


def judge(folder, tools):
    build(folder)
    counts = {}
    wrong = 0
    names = sorted(CASES) + ["multifunction"]
    for name in names:
        if not os.path.exists(os.path.join(folder, name + ".mlpackage")):
            wrong += 1
            continue
        refused, notes = written(folder, name, tools)
        for kind in ("copy", "core"):
            if kind in refused:
                fate, why = "unwritten", " ".join(refused[kind].split())[:200]
            else:
                fate, why = compare(folder, name, kind)
            if fate == "differs" and kind == "core" and name in EXCUSED:
                fate, why = "noted", EXCUSED[name]
            counts[kind, fate] = counts.get((kind, fate), 0) + 1
            wrong += fate not in ("same", "noted")
            print(" ".join([fate, kind, name]) + (": " + why if why else ""))
        if NOTES.get(name, "") not in notes:
            wrong += 1
            print("silent %s: no note says `%s`" % (name, NOTES[name]))
    for (kind, fate), count in sorted(counts.items()):
        print("%s %s: %d of %d" % (kind, fate, count, len(names)))
    return min(wrong, 1)


def differences(theirs, ours):
    theirs, ours = plain(theirs.description), plain(ours.description)
    fields = [
        "input",
        "output",
        "state",
        "predictedFeatureName",
        "predictedProbabilitiesName",
        "metadata",
        "functions",
        "defaultFunctionName",
    ]
    for field in fields:
        one, other = getattr(theirs, field), getattr(ours, field)
        if hasattr(one, "SerializeToString"):
            one, other = one.SerializeToString(deterministic=True), other.SerializeToString(deterministic=True)
        elif not isinstance(one, str):
            one = [own.SerializeToString(deterministic=True) for own in one]
            other = [own.SerializeToString(deterministic=True) for own in other]
        if one != other:
            yield "%s: %s instead of %s" % (field, shown(ours, field), shown(theirs, field))


def shown(description, field):
    return " ".join(str(getattr(description, field)).split())[:300]


if __name__ == "__main__":
    import logging

    logging.disable(logging.CRITICAL)
    sys.exit(judge(sys.argv[1], sys.argv[2]))
