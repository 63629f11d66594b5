"""Writes classifier.onnx: a small network as exporters write it, with the arithmetic of its reshape."""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

numbers = np.random.default_rng(1)


def weight(name, *shape):
    scale = np.sqrt(2 / np.prod(shape[1:]))
    return numpy_helper.from_array((numbers.standard_normal(shape) * scale).astype(np.float32), name)


def ints(name, *elements):
    return numpy_helper.from_array(np.array(elements, np.int64), name)


nodes = [
    helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["conv"], auto_pad="SAME_UPPER", kernel_shape=[3, 3]),
    helper.make_node("Relu", ["conv"], ["active"]),
    helper.make_node("MaxPool", ["active"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
    helper.make_node("Shape", ["pooled"], ["shape"]),
    helper.make_node("Gather", ["shape", "first"], ["batch"], axis=0),
    helper.make_node("Concat", ["batch", "rest"], ["target"], axis=0),
    helper.make_node("Reshape", ["pooled", "target"], ["flat"]),
    helper.make_node("Gemm", ["flat", "head.weight", "head.bias"], ["scores"], transB=1),
    helper.make_node("Softmax", ["scores"], ["classes"], axis=-1),
]
weights = [
    weight("conv.weight", 4, 1, 3, 3),
    weight("conv.bias", 4),
    weight("head.weight", 10, 64),
    weight("head.bias", 10),
    ints("first", 0),
    ints("rest", -1),
]
graph = helper.make_graph(
    nodes,
    "classifier",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
    [helper.make_tensor_value_info("classes", TensorProto.FLOAT, ["batch", 10])],
    weights,
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
save(model, sys.argv[1] if len(sys.argv) > 1 else "classifier.onnx")
