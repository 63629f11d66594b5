"""Computes with NumPy what ops of MIL give that coremltools has no value inference for.

usage: reference.py CASES INFERRED > REFERENCED

CASES is `tools/mind-testgen/src/mil_cases.txt`. A case that stands in INFERRED is left out. Elements of inputs
are those that `mind_testgen::mil::Program::element` gives. Written after Core ML's op reference, not after this
compiler.
"""

import json
import re
import sys

import numpy as np


def element(name, at):
    mixed = (at * 37 + len(name) + ord(name[0])) % 23
    if name == "i":
        return float(mixed % 2)
    return (mixed + 1) / 8 if name == "p" else (mixed - 11) / 8


def literal(text):
    """A typed literal: `tensor<fp32, [2]>([..])`, `fp32(..)`, `string("..")`."""
    match = re.fullmatch(r'(?:tensor<(\w+), \[([\d, ]*)\]>|(\w+))\((.*)\)', text, re.S)
    kind, value = match.group(1) or match.group(3), match.group(4)
    if kind == "string":
        return value.strip('"')
    value = re.sub(r"-?0x[0-9a-f.]+p[+-]\d+", lambda found: repr(float.fromhex(found.group())), value)
    array = np.array(json.loads(value), dtype=np.float64 if kind.startswith("fp") else np.int64 if "int" in kind else bool)
    if match.group(2) is not None:
        array = array.reshape([int(extent) for extent in match.group(2).split(",")])
    return array


def split(text):
    """The parts of a list, nested brackets aside."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "([<{"
        depth -= letter in ")]>}"
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in parts + [text[start:].strip()] if part]


def windows(x, kernel, args, fill):
    """What each window of `x` reads, as [N, C, .., positions], and whether it is padding."""
    spatial = len(kernel)
    strides = args.get("strides", np.ones(spatial, int))
    dilations = args.get("dilations", np.ones(spatial, int))
    kind = args.get("pad_type", "valid")
    pads = np.zeros(2 * spatial, int)
    if kind == "custom":
        pads = args["pad"]
    elif kind == "same":
        for at in range(spatial):
            extent = x.shape[2 + at]
            reach = (kernel[at] - 1) * dilations[at] + 1
            total = max(0, int((-(-extent // strides[at]) - 1) * strides[at] + reach - extent))
            pads[2 * at], pads[2 * at + 1] = total // 2, total - total // 2
    around = [(0, 0), (0, 0)] + [(pads[2 * at], pads[2 * at + 1]) for at in range(spatial)]
    inside = np.pad(np.ones_like(x), around)
    x = np.pad(x, around, constant_values=fill)
    counts = [
        (x.shape[2 + at] - ((kernel[at] - 1) * dilations[at] + 1)) // strides[at] + 1 for at in range(spatial)
    ]
    reads, real = [], []
    for tap in np.ndindex(*kernel):
        place = tuple(
            slice(tap[at] * dilations[at], tap[at] * dilations[at] + (counts[at] - 1) * strides[at] + 1, strides[at])
            for at in range(spatial)
        )
        reads.append(x[(slice(None), slice(None)) + place])
        real.append(inside[(slice(None), slice(None)) + place])
    return np.stack(reads, -1), np.stack(real, -1)


def conv(args):
    x, weight, groups = args["x"], args["weight"], int(args.get("groups", 1))
    reads, _ = windows(x, weight.shape[2:], args, 0.0)
    outputs = []
    for o in range(weight.shape[0]):
        each = weight.shape[1]
        first = o // (weight.shape[0] // groups) * each
        taps = weight[o].reshape(each, -1)
        outputs.append(np.einsum("nc...t,ct->n...", reads[:, first : first + each], taps))
    result = np.stack(outputs, 1)
    if "bias" in args:
        result = result + args["bias"].reshape((-1,) + (1,) * (x.ndim - 2))
    return result


def max_pool(args):
    return windows(args["x"], args["kernel_sizes"], args, -np.inf)[0].max(-1)


def avg_pool(args):
    reads, real = windows(args["x"], args["kernel_sizes"], args, 0.0)
    count = real.sum(-1) if args.get("exclude_padding_from_average", False) else reads.shape[-1]
    return reads.sum(-1) / count


def channels(args, name, default):
    shape = (-1,) + (1,) * (args["x"].ndim - 2)
    return np.asarray(args[name]).reshape(shape) if name in args else default


def batch_norm(args):
    mean, variance = channels(args, "mean", None), channels(args, "variance", None)
    scale = channels(args, "gamma", 1.0) / np.sqrt(variance + args["epsilon"])
    return (args["x"] - mean) * scale + channels(args, "beta", 0.0)


def instance_norm(args):
    axes = tuple(range(2, args["x"].ndim))
    mean, variance = args["x"].mean(axes, keepdims=True), args["x"].var(axes, keepdims=True)
    scale = channels(args, "gamma", 1.0) / np.sqrt(variance + args["epsilon"])
    return (args["x"] - mean) * scale + channels(args, "beta", 0.0)


def blocks(args, factor, apart, order):
    n, c, h, w = args["x"].shape
    f = int(args[factor])
    sizes = {"n": n, "c": c, "h": h, "w": w, "f": f, "C": c // (f * f), "H": h // f, "W": w // f}
    x = args["x"].reshape([sizes[letter] for letter in apart]).transpose(order)
    shape = x.shape
    if "C" in apart:
        return x.reshape(n, c // (f * f), h * f, w * f)
    return x.reshape(n, c * f * f, h // f, w // f)


def dequantized(data, scale, offset=0):
    return scale * (data - offset)


def l2_norm(args):
    return args["x"] / np.sqrt((args["x"] ** 2).sum((-3, -2, -1), keepdims=True) + args["epsilon"])


def attention(args):
    scores = args["query"] @ args["key"].swapaxes(-1, -2) / np.sqrt(args["query"].shape[-1])
    scores = scores + args.get("attn_mask", 0.0)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ args["value"]


def bands(args):
    rows, columns = np.indices(args["x"].shape[-2:])
    return np.where((rows - columns <= args["lower"]) & (columns - rows <= args["upper"]), args["x"], 0.0)


def updated(args):
    x = args["x"].copy()
    place = tuple(slice(*bounds) for bounds in zip(args["begin"], args["end"], args["stride"]))
    x[place] = args["update"]
    return x


def softplus(args):
    alpha, beta = channels(args, "alpha", 1.0), channels(args, "beta", 1.0)
    return alpha * np.log1p(np.exp(beta * args["x"]))


def gathered(args):
    x, indices, axis = args["x"], args["indices"].astype(int), int(args["axis"])
    if int(args["batch_dims"]) == 0:
        return np.take(x, indices, axis)
    return np.stack([np.take(own, places, axis - 1) for own, places in zip(x, indices)])


def tops(args):
    order = np.argsort(-args["x"], -1, kind="stable")[..., : int(args["k"])]
    return [np.take_along_axis(args["x"], order, -1), order]


def compressed(args):
    data, scale, offset = (args.get(name) for name in ("quantized_data", "scale", "zero_point"))
    along = lambda factor: factor.reshape(-1, 1) if np.ndim(factor) == 1 else factor
    return dequantized(data, along(scale), along(offset))


def interleaved(values, axis):
    shape = list(values[0].shape)
    shape[axis] *= len(values)
    return np.stack(values, axis + 1).reshape(shape)


def summed(args):
    x, axis = args["x"], int(args["axis"])
    if args["reverse"]:
        x = np.flip(x, axis)
    sums = np.cumsum(x, axis)
    if args["exclusive"]:
        sums = sums - x
    return np.flip(sums, axis) if args["reverse"] else sums


def conv_transpose(args):
    """Puts the kernel, scaled by each element, where it reaches, then takes off what pads say."""
    x, weight, groups = args["x"], args["weight"], int(args.get("groups", 1))
    spatial = x.ndim - 2
    strides, dilations = (args.get(name, np.ones(spatial, int)) for name in ("strides", "dilations"))
    kernel, each = weight.shape[2:], weight.shape[1]
    whole = [(x.shape[2 + at] - 1) * strides[at] + (kernel[at] - 1) * dilations[at] + 1 for at in range(spatial)]
    result = np.zeros((x.shape[0], each * groups, *whole))
    inner = x.shape[1] // groups
    for n, c, *place in np.ndindex(*x.shape):
        for o, *tap in np.ndindex(each, *kernel):
            at = tuple(place[dim] * strides[dim] + tap[dim] * dilations[dim] for dim in range(spatial))
            result[(n, c // inner * each + o, *at)] += x[(n, c, *place)] * weight[(c, o, *tap)]
    for dim in range(spatial):
        before, after = 0, 0
        if args["pad_type"] == "custom":
            before, after = args["pad"][2 * dim], args["pad"][2 * dim + 1]
        elif args["pad_type"] == "same":
            off = whole[dim] - x.shape[2 + dim] * strides[dim]
            before, after = off // 2, off - off // 2
        result = np.take(result, range(before, whole[dim] - after), 2 + dim)
    return result + channels(args, "bias", 0.0)


def across(args):
    x, size, result = args["x"], int(args["size"]), np.zeros_like(args["x"])
    for channel in range(x.shape[1]):
        around = x[:, max(0, channel - size // 2) : channel + (size - 1) // 2 + 1]
        result[:, channel] = x[:, channel] / (args["k"] + args["alpha"] / size * (around**2).sum(1)) ** args["beta"]
    return result


def from_batch(args):
    x, (p, q) = args["x"], args["block_shape"]
    n, c, h, w = x.shape
    x = x.reshape(p, q, n // (p * q), c, h, w).transpose(2, 3, 4, 0, 5, 1).reshape(n // (p * q), c, h * p, w * q)
    (top, bottom), (left, right) = args["crops"]
    return x[:, :, top : h * p - bottom, left : w * q - right]


def to_batch(args):
    (p, q), pads = args["block_shape"], args["paddings"]
    x = np.pad(args["x"], [(0, 0), (0, 0), *map(tuple, pads)])
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // p, p, w // q, q).transpose(3, 5, 0, 1, 2, 4)
    return x.reshape(n * p * q, c, h // p, w // q)


def reversed_parts(args):
    x = args["x"].copy()
    for row, length in enumerate(args["lengths"]):
        x[row, :length] = x[row, :length][::-1]
    return x


MODES = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "update": lambda old, new: new,
}


def scattered(args, places):
    result, join = args["data"].copy(), MODES[args["mode"]]
    for place, update in places:
        result[place] = join(result[place], update)
    return result


def scatter(args):
    axis, updates = int(args["axis"]), args["updates"]
    before = (slice(None),) * axis
    return scattered(args, [((*before, i), np.take(updates, at, axis)) for at, i in enumerate(args["indices"])])


def scatter_along(args):
    def place(at):
        own = list(at)
        own[int(args["axis"])] = args["indices"][at]
        return tuple(own)

    return scattered(args, [(place(at), args["updates"][at]) for at in np.ndindex(*args["indices"].shape)])


def resized(args, out, places):
    """Interpolates along the last two axes, at `places(extent, out)`."""
    x = args["x"]
    for axis, count in zip((-2, -1), out):
        extent = x.shape[axis]
        at = np.clip(places(extent, count), 0, extent - 1)
        flat = np.moveaxis(x, axis, -1).reshape(-1, extent)
        new = np.array([np.interp(at, np.arange(extent), row) for row in flat])
        x = np.moveaxis(new.reshape(np.moveaxis(x, axis, -1).shape[:-1] + (count,)), -1, axis)
    return x


def grid(mode):
    def places(extent, out):
        i = np.arange(out)
        if mode == "UNALIGN_CORNERS":
            return i * (extent / out) + 0.5 * extent / out - 0.5
        if mode == "OFFSET_CORNERS":
            delta = max(1, extent - 1) / out
            return 0.5 * delta + i * ((out - 1) * delta) / (out - 1)
        if mode == "DEFAULT":
            return i * (extent - extent / out) / (out - 1)
        if out == 1:
            return np.array([(extent - 1) / 2])
        return i * (extent - 1) / (out - 1)

    return places


def bilinear(args):
    out = [int(args["target_size_height"]), int(args["target_size_width"])]
    return resized(args, out, grid(args["sampling_mode"]))


def upsampled(args):
    out = [int(args["x"].shape[at - 2] * args[name]) for at, name in enumerate(("scale_factor_height", "scale_factor_width"))]
    return resized(args, out, grid("ALIGN_CORNERS" if args["align_corners"] else "UNALIGN_CORNERS"))


def resampled(args):
    """Between elements at coordinates from -1 to 1, which are those of the first and the last element; 0 outside."""
    x, places = args["x"], args["coordinates"]
    last = np.array(x.shape[:1:-1]) - 1
    out = np.zeros(x.shape[:2] + places.shape[1:3])
    for n, i, j in np.ndindex(*places.shape[:3]):
        across, down = (places[n, i, j] + 1) * last / 2
        for row, column in np.ndindex(*x.shape[2:]):
            weight = max(0, 1 - abs(down - row)) * max(0, 1 - abs(across - column))
            out[n, :, i, j] += weight * x[n, :, row, column]
    return out


def repeated(args, height, width):
    return args["x"].repeat(height, -2).repeat(width, -1)


def quantized(args):
    numbers = np.round(args["input"] / args["scale"]) + args["zero_point"]
    return np.clip(numbers, -128, 127)


def bits(packed, count):
    return np.unpackbits(np.atleast_1d(packed).astype(np.uint8), bitorder="little")[:count]


def dense(args):
    mask = args["mask"]
    if "shape" in args:
        mask = bits(mask, int(np.prod(args["shape"]))).reshape(args["shape"])
    result = np.zeros(mask.shape)
    result[mask == 1] = args["nonzero_data"]
    return result


def looked_up(args):
    lut, indices = args["lut"], args["indices"]
    if "shape" in args:
        count, width = int(np.prod(args["shape"])), int(np.log2(len(lut)))
        places = bits(indices, count * width).reshape(count, width) @ (1 << np.arange(width))
        return lut[places].reshape(args["shape"])
    if "vector_axis" not in args:
        return lut.reshape(-1)[indices]
    axis, vectors = int(args["vector_axis"]), lut.reshape(lut.shape[-2:])[indices]
    shape = list(indices.shape)
    shape[axis] *= lut.shape[-1]
    return np.moveaxis(vectors, -1, axis + 1).reshape(shape)


def sparse_scaled(args):
    mask = args["data_mask"]
    data = np.zeros(mask.shape)
    data[mask == 1] = args["nonzero_data"]
    return [mask, dequantized(data, args["scale"], args.get("offset", 0))[mask == 1]]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrent(cell):
    def layer(args):
        x, whole = args["x"], args["initial_h"].shape[1]
        kind = args.get("direction", "forward")
        parts = [("", False), ("_back", True)] if kind == "bidirectional" else [("", kind == "reverse")]
        size, lasts, every = whole // len(parts), [], []
        for at, (end, backwards) in enumerate(parts):
            own = slice(at * size, (at + 1) * size)
            state = [args[name][:, own] for name in ("initial_h", "initial_c") if name in args]
            sequence = []
            for step in x[::-1] if backwards else x:
                state = cell(args, end, size, step, *state)
                sequence.append(state[0])
            every.append(np.stack(sequence[::-1] if backwards else sequence))
            lasts.append(state)
        last = [np.concatenate(states, 1) for states in zip(*lasts)]
        output = np.concatenate(every, 2) if args["output_sequence"] else last[0][None]
        return [output, *last]

    return layer


def sums(args, end, x, h):
    bias = args.get("bias" + end, 0.0)
    return x @ args["weight_ih" + end].T, h @ args["weight_hh" + end].T, bias


def rnn(args, end, size, x, h):
    return [np.tanh(sum(sums(args, end, x, h)))]


def gru(args, end, size, x, h):
    (inside, past, bias), new = sums(args, end, x, h), slice(size, 2 * size)
    gates = sigmoid(inside + past + bias)
    reset, update = gates[:, :size], gates[:, 2 * size :]
    out = np.tanh(inside[:, new] + (reset * h) @ args["weight_hh"][new].T + bias[new])
    return [(1 - update) * out + update * h]


def lstm(args, end, size, x, h, c):
    gates = sum(sums(args, end, x, h))
    look = args.get("peephole" + end, np.zeros(3 * size))
    part = lambda at: gates[:, at * size : (at + 1) * size]
    peep = lambda at: look[at * size : (at + 1) * size]
    new = sigmoid(part(1) + peep(1) * c) * c + sigmoid(part(0) + peep(0) * c) * np.tanh(part(3))
    return [sigmoid(part(2) + peep(2) * new) * np.tanh(new), new]


OPS = {
    "conv_transpose": conv_transpose,
    "l2_pool": lambda args: np.sqrt((windows(args["x"], args["kernel_sizes"], args, 0.0)[0] ** 2).sum(-1)),
    "local_response_norm": across,
    "batch_to_space": from_batch,
    "space_to_batch": to_batch,
    "reverse_sequence": reversed_parts,
    "sliding_windows": lambda args: np.lib.stride_tricks.sliding_window_view(args["x"], int(args["size"]), 1)[
        :, :: int(args["stride"])
    ],
    "scatter": scatter,
    "scatter_along_axis": scatter_along,
    "scatter_nd": lambda args: scattered(args, [(tuple(i), u) for i, u in zip(args["indices"], args["updates"])]),
    "non_zero": lambda args: np.argwhere(args["x"]),
    "relu": lambda args: np.maximum(args["x"], 0),
    "crop": lambda args: args["x"][
        ..., args["crop_height"][0] : -args["crop_height"][1] or None, args["crop_width"][0] : -args["crop_width"][1] or None
    ],
    "resample": resampled,
    "resize_bilinear": bilinear,
    "resize_nearest_neighbor": lambda args: repeated(args, 2, 2),
    "upsample_nearest_neighbor": lambda args: repeated(
        args, int(args["scale_factor_height"]), int(args["scale_factor_width"])
    ),
    "upsample_bilinear": upsampled,
    "resize": lambda args: resized(args, [6, 4], grid("ALIGN_CORNERS")),
    "quantize": quantized,
    "cast": lambda args: args["x"],
    "constexpr_cast": lambda args: args["source_val"],
    "constexpr_sparse_to_dense": dense,
    "rnn": recurrent(rnn),
    "gru": recurrent(gru),
    "lstm": recurrent(lstm),
    "conv": conv,
    "max_pool": max_pool,
    "avg_pool": avg_pool,
    "batch_norm": batch_norm,
    "instance_norm": instance_norm,
    "depth_to_space": lambda args: blocks(args, "block_size", "nffChw", (0, 3, 4, 1, 5, 2)),
    "pixel_shuffle": lambda args: blocks(args, "upscale_factor", "nCffhw", (0, 1, 4, 2, 5, 3)),
    "space_to_depth": lambda args: blocks(args, "block_size", "ncHfWf", (0, 3, 5, 1, 2, 4)),
    "pixel_unshuffle": lambda args: blocks(args, "downscale_factor", "ncHfWf", (0, 1, 3, 5, 2, 4)),
    "silu": lambda args: args["x"] / (1 + np.exp(-args["x"])),
    "gelu": lambda args: args["x"] / 2 * (1 + np.vectorize(__import__("math").erf)(args["x"] / np.sqrt(2))),
    "softplus_parametric": softplus,
    "prelu": lambda args: np.where(args["x"] >= 0, args["x"], args["x"] * channels(args, "alpha", 0.0)),
    "l2_norm": l2_norm,
    "scaled_dot_product_attention": attention,
    "band_part": bands,
    "slice_update": updated,
    "gather": gathered,
    "gather_along_axis": lambda args: np.take_along_axis(args["x"], args["indices"], int(args["axis"])),
    "gather_nd": lambda args: args["x"][tuple(args["indices"].T)],
    "topk": tops,
    "argsort": lambda args: np.argsort(args["x"] if args["ascending"] else -args["x"], int(args["axis"]), kind="stable"),
    "one_hot": lambda args: np.where(
        np.arange(int(args["one_hot_vector_size"])) == args["indices"][:, None], args["on_value"], args["off_value"]
    ),
    "constexpr_affine_dequantize": compressed,
    "constexpr_blockwise_shift_scale": lambda args: args["data"] * args["scale"],
    "constexpr_lut_to_dense": looked_up,
    "constexpr_lut_to_sparse": lambda args: [args["indices_mask"], args["lut"].reshape(-1)[args["indices_nonzero_data"]]],
    "constexpr_sparse_blockwise_shift_scale": sparse_scaled,
    "dequantize": lambda args: dequantized(args["input"], args["scale"], args["zero_point"]),
    "concat": lambda args: interleaved(args["values"], int(args["axis"])),
    "cumsum": lambda args: summed(args),
    "add": lambda args: args["x"] + args["y"],
    "fill_like": lambda args: np.full(args["ref_tensor"].shape, args["value"]),
    "fill": lambda args: np.full(args["shape"], args["value"]),
    "range_1d": lambda args: np.arange(args["start"], args["end"], args["step"]),
    "shape": lambda args: np.array(args["x"].shape),
    "identity": lambda args: args["x"],
    "reshape": lambda args: args["x"].reshape(args["shape"]),
    "reshape_like": lambda args: args["x"].reshape(args["ref_tensors"][0].shape),
}


def run(case):
    head, body = case.split("\n", 1)
    params, rest = re.match(r"in ([^\n]*)\n(.*)\nout", body, re.S).groups()
    env = {}
    for ty, extents, name in re.findall(r"tensor<(@|\w+), \[([\d, ]*)\]> (\w+)", params):
        shape = [int(extent) for extent in extents.split(",")]
        env[name] = np.array([element(name, at) for at in range(int(np.prod(shape)))]).reshape(shape)
        if ty != "@":
            env[name] = env[name].astype(np.int64)
    for statement in re.findall(r"([^;]+);", rest.replace("@", "fp32")):
        left, op, given = re.fullmatch(r"\s*(.*?) = (\w+)\((.*)\)(?:\[(.*)\])?", statement, re.S).group(1, 2, 3)
        attributes = re.fullmatch(r".*?\)\[(.*)\]", statement.strip(), re.S) if "()[" in statement else None
        args = {}
        for pair in split(attributes.group(1) if attributes else given):
            name, value = pair.split(" = ", 1)
            if value.startswith("("):
                args[name] = [env.get(own) for own in split(value[1:-1])]
            else:
                args[name] = env[value] if value in env else literal(value)
        results = OPS[op](args)
        names = re.findall(r"> (\w+)", left)
        for name, result in zip(names, results if isinstance(results, list) else [results]):
            env[name] = result
    outputs = re.search(r"\nout (.*)", case).group(1).split(", ")
    return [np.asarray(env[name], dtype=np.float32).ravel().tolist() for name in outputs]


def main(cases, inferred):
    with open(inferred) as file:
        known = json.load(file)
    lines = []
    with open(cases) as file:
        paragraphs = [text for text in file.read().rstrip("\n").split("\n\n") if text.startswith("op ")]
    for at, case in enumerate(paragraphs):
        key = "%03d-%s" % (at, case.split("\n", 1)[0][3:].split(" ")[0])
        if key not in known:
            try:
                lines.append('  "%s": %s' % (key, json.dumps(run(case))))
            except Exception as error:
                print("%s: %s %s" % (key, type(error).__name__, error), file=sys.stderr)
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1], sys.argv[2])
