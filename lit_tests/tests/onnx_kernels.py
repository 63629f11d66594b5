"""Prints the dtypes for which ONNX Runtime has kernels on processors, as `compiler/formats/mind-onnx/src/export/kernels.tsv` has them.

A model with one node of each operator that the writer of ONNX knows is loaded for each dtype and version of the operator set,
with optimisation off. A line is the name of the operator, the version from which on it has these kernels, and the dtypes. Where
an operator has several forms, the dtypes are those that all of them take.
"""

import onnx
import onnxruntime
from onnx import TensorProto, helper

DTYPES = {
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "f32": TensorProto.FLOAT,
    "f64": TensorProto.DOUBLE,
    "i8": TensorProto.INT8,
    "i16": TensorProto.INT16,
    "i32": TensorProto.INT32,
    "i64": TensorProto.INT64,
    "u8": TensorProto.UINT8,
    "u16": TensorProto.UINT16,
    "u32": TensorProto.UINT32,
    "u64": TensorProto.UINT64,
    "bool": TensorProto.BOOL,
}
INT64, BOOL, FLOAT, INT32, UINT8 = (DTYPES[name] for name in ("i64", "bool", "f32", "i32", "u8"))
# The versions that are written.
OPSETS = range(13, 27)
# The newest version of the format that the version of each operator set needs and ONNX Runtime 1.32 reads.
IR_VERSION = 12

BINARY = "Add Sub Mul Div Mod Max Min Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor BitwiseAnd BitwiseOr BitwiseXor Pow"
UNARY = (
    "Neg Abs Relu Exp Log Sqrt Reciprocal Erf Tanh Sigmoid Gelu Not BitwiseNot Sign Floor Ceil Round Sin Cos Tan Sinh Cosh Asin "
    "Acos Atan Asinh Acosh Atanh IsNaN Identity Softmax NonZero Transpose Shape"
)


def forms(of):
    """The operators: for each its forms, of which each has inputs (a type and a shape, or None), attributes and results."""
    list_ = (INT64, [1])
    image, filter_ = (of, [1, 1, 3, 3]), (of, [1, 1, 2, 2])
    matrix, pair = (of, [2, 3]), (of, [2])
    all_ = {name: [([pair, pair], {}, 1)] for name in BINARY.split()}
    all_ |= {name: [([(of, [2, 2])], {}, 1)] for name in UNARY.split()}
    all_["Mod"].append(([pair, pair], {"fmod": 1}, 1))
    all_["BitShift"] = [([pair, pair], {"direction": "LEFT"}, 1)]
    all_["Where"] = [([(BOOL, [2]), pair, pair], {}, 1)]
    for name in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"):
        all_[name] = [([matrix], {"keepdims": 1}, 1)]
    for name in ("ArgMax", "ArgMin"):
        all_[name] = [([matrix], {"axis": 0, "select_last_index": last}, 1) for last in (0, 1)]
    all_["MaxPool"] = [([image], {"kernel_shape": [2, 2]}, count) for count in (1, 2)]
    all_["AveragePool"] = [([image], {"kernel_shape": [2, 2]}, 1)]
    all_["CumSum"] = [([pair, (INT64, [])], {}, 1)]
    for name in ("Reshape", "Expand", "Unsqueeze", "Gather", "GatherElements"):
        all_[name] = [([pair, list_], {}, 1)]
    all_["Squeeze"] = [([(of, [1, 2]), list_], {}, 1)]
    all_["Slice"] = [([pair, list_, list_, list_, list_], {}, 1)]
    all_["Pad"] = [([pair, (INT64, [2])], {"mode": mode}, 1) for mode in ("constant", "edge", "reflect")]
    all_["GatherND"] = [([pair, (INT64, [1, 1])], {}, 1)]
    all_["ScatterElements"] = [([pair, list_, (of, [1])], {}, 1)]
    all_["ScatterND"] = [([pair, (INT64, [1, 1]), (of, [1])], {}, 1)]
    all_["TopK"] = [([pair, list_], {}, 2)]
    all_["Unique"] = [([pair], {}, 4)]
    all_["Concat"] = [([pair, pair], {"axis": 0}, 1)]
    all_["Split"] = [([pair, (INT64, [2])], {}, 2)]
    all_["MatMul"] = [([(of, [2, 2]), (of, [2, 2])], {}, 1)]
    all_["MatMulInteger"] = [([(of, [2, 2]), (UINT8, [2, 2])], {}, 1)]
    all_["Conv"] = [([image, filter_], {}, 1)]
    all_["ConvTranspose"] = [([image, filter_], {}, 1)]
    all_["ConvInteger"] = [([image, (UINT8, [1, 1, 2, 2])], {}, 1)]
    all_["Resize"] = [([image, None, None, (INT64, [4])], {"mode": mode}, 1) for mode in ("nearest", "linear")]
    all_["GridSample"] = [([image, (FLOAT, [1, 2, 2, 2])], {}, 1)]
    all_["Cast"] = [([pair], {"to": FLOAT}, 1)]
    all_["BitCast"] = [([pair], {"to": of}, 1)]
    # By the dtype of the scale.
    all_["QuantizeLinear"] = [([pair, (of, []), (UINT8, [])], {}, 1)]
    all_["DequantizeLinear"] = [([(UINT8, [2]), (of, [])], {}, 1)]
    return all_


def is_loaded(name, form, opset):
    inputs, attributes, count = form
    schema = onnx.defs.get_schema(name, opset)
    if any(attribute not in schema.attributes for attribute in attributes):
        return True
    names = ["" if own is None else f"x{at}" for at, own in enumerate(inputs)]
    results = [f"y{at}" for at in range(count)]
    node = helper.make_node(name, names, results, **attributes)
    values = [helper.make_tensor_value_info(own, *ty) for own, ty in zip(names, inputs) if ty is not None]
    graph = helper.make_graph([node], "g", values, [onnx.ValueInfoProto(name=own) for own in results])
    sets = [helper.make_opsetid("", opset)]
    version = min(helper.find_min_ir_version_for(sets, ignore_unknown=True), IR_VERSION)
    model = helper.make_model(graph, opset_imports=sets, ir_version=version)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True


def main():
    kernels = {}
    for opset in OPSETS:
        for dtype, of in DTYPES.items():
            for name, own in forms(of).items():
                if not onnx.defs.has(name, max_inclusive_version=opset):
                    continue
                if all(is_loaded(name, form, opset) for form in own):
                    kernels.setdefault((name, opset), []).append(dtype)
                else:
                    kernels.setdefault((name, opset), [])
    for name in sorted(forms(FLOAT)):
        before = None
        for opset in OPSETS:
            dtypes = kernels.get((name, opset))
            if dtypes is not None and dtypes != before:
                print(name, opset, " ".join(dtypes), sep="\t")
                before = dtypes


main()
