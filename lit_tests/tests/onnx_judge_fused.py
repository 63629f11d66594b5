"""Models of the operators that optimisers for ONNX Runtime write, and what ONNX Runtime computes of them.

A test has the fields of those of the package onnx. Without ONNX Runtime there are none.
"""

from types import SimpleNamespace

import numpy as np
import onnx
from onnx import TensorProto, helper

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

DOMAIN = "com.microsoft"


def model_of(operator, arrays, outputs, attributes, known, domain):
    """A model of one node: `arrays` by input, None for one that is left out, and those in `known` as initialisers."""
    names = [f"x{at}" if own is not None else "" for at, own in enumerate(arrays)]
    given = [(name, own) for name, own in zip(names, arrays) if own is not None]
    results = [f"y{at}" for at in range(outputs)]
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    of = lambda own: helper.np_dtype_to_tensor_dtype(own.dtype)
    inputs = [helper.make_tensor_value_info(name, of(own), own.shape) for name, own in given if name not in known]
    initialisers = [onnx.numpy_helper.from_array(own, name) for name, own in given if name in known]
    made = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([node], "g", inputs, made, initialisers)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def test_of(name, operator, arrays, outputs=1, known=(), atol=1e-5, domain=DOMAIN, **attributes):
    known = {f"x{at}" for at in known}
    model = model_of(operator, arrays, outputs, attributes, known, domain)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {f"x{at}": own for at, own in enumerate(arrays) if own is not None and f"x{at}" not in known}
    results = session.run(None, feeds)
    del model.graph.output[:]
    of = lambda own: helper.np_dtype_to_tensor_dtype(own.dtype)
    model.graph.output.extend(
        helper.make_tensor_value_info(f"y{at}", of(own), own.shape) for at, own in enumerate(results)
    )
    given = [own for at, own in enumerate(arrays) if own is not None and f"x{at}" not in known]
    return SimpleNamespace(
        name=name, model=model, data_sets=[(given, results)], rtol=1e-3, atol=atol, model_dir=None
    )


def floats(*shape, seed=0, spread=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * spread).astype(np.float32)


def bytes_of(*shape, seed=0, kind=np.uint8):
    info = np.iinfo(kind)
    return np.random.default_rng(seed).integers(info.min, info.max + 1, shape).astype(kind)


def weights_of(*shape, seed=0, kind=np.int8):
    """Bytes less than 64 away from zero, with whose products ONNX Runtime does not leave the 16 bits that it adds pairs in."""
    own = np.random.default_rng(seed).integers(-64, 64, shape)
    return (own + (0 if kind is np.int8 else 128)).astype(kind)


def number(own, kind=np.float32):
    return np.array(own, kind)


def elementwise():
    x, bias = floats(2, 3, 8), floats(8, seed=1)
    yield test_of("bias_gelu", "BiasGelu", [x, bias])
    yield test_of("fast_gelu", "FastGelu", [x])
    yield test_of("fast_gelu_with_bias", "FastGelu", [x, bias])
    yield test_of("gelu", "Gelu", [x])
    yield test_of("quick_gelu", "QuickGelu", [x])
    yield test_of("quick_gelu_alpha", "QuickGelu", [x], alpha=0.5)


def products():
    a, b = floats(2, 3, 4), floats(2, 4, 5, seed=1)
    yield test_of("fused_matmul", "FusedMatMul", [a, b], alpha=0.25)
    yield test_of("fused_matmul_transposed", "FusedMatMul", [a.swapaxes(1, 2).copy(), b.swapaxes(1, 2).copy()], transA=1, transB=1)
    a, b, c = floats(3, 4), floats(4, 5, seed=1), floats(5, seed=2)
    yield test_of("fused_gemm_relu", "FusedGemm", [a, b, c], activation="Relu")
    yield test_of("fused_gemm_leaky", "FusedGemm", [a, b.T.copy(), c], transB=1, activation="LeakyRelu", activation_alpha=0.3)
    x, w, bias = floats(1, 4, 6, 6), floats(4, 4, 3, 3, seed=1), floats(4, seed=2)
    other = floats(1, 4, 6, 6, seed=3)
    pads = [1, 1, 1, 1]
    yield test_of("fused_conv_relu", "FusedConv", [x, w, bias], pads=pads, activation="Relu")
    yield test_of("fused_conv_sum", "FusedConv", [x, w, bias, other], pads=pads, activation="Relu")
    yield test_of("fused_conv_hard_sigmoid", "FusedConv", [x, w, bias], pads=pads, activation="HardSigmoid", activation_params=[0.3, 0.4])


def norms():
    x, other = floats(2, 3, 8), floats(2, 3, 8, seed=1)
    scale, shift, bias = floats(8, seed=2), floats(8, seed=3), floats(8, seed=4)
    yield test_of("simplified_layer_norm", "SimplifiedLayerNormalization", [x, scale], domain="", epsilon=1e-5)
    yield test_of("skip_layer_norm", "SkipLayerNormalization", [x, other, scale, shift], epsilon=1e-5)
    yield test_of("skip_layer_norm_bias", "SkipLayerNormalization", [x, other, scale, shift, bias], epsilon=1e-5)
    yield test_of("skip_simplified_layer_norm", "SkipSimplifiedLayerNormalization", [x, other, scale, bias], epsilon=1e-5)
    ids, kinds = np.array([[1, 4, 2]], np.int32), np.array([[0, 1, 1]], np.int32)
    words, places, segments = floats(6, 8), floats(5, 8, seed=1), floats(2, 8, seed=2)
    mask = np.array([[1, 1, 0]], np.int32)
    lists = [words, places, segments, scale, shift]
    yield test_of("embed_layer_norm", "EmbedLayerNormalization", [ids, kinds, *lists], 2, epsilon=1e-5)
    yield test_of("embed_layer_norm_mask", "EmbedLayerNormalization", [ids, kinds, *lists, mask], 2, epsilon=1e-5)
    lists[2] = None
    yield test_of("embed_layer_norm_words", "EmbedLayerNormalization", [ids, None, *lists], 2, epsilon=1e-5)


def attentions():
    x, w, bias = floats(2, 4, 8), floats(8, 24, seed=1, spread=0.3), floats(24, seed=2)
    past = floats(2, 2, 2, 3, 4, seed=3)
    yield test_of("attention", "Attention", [x, w, bias], num_heads=2)
    yield test_of("attention_unidirectional", "Attention", [x, w, bias], num_heads=2, unidirectional=1)
    yield test_of("attention_lengths", "Attention", [x, w, bias, np.array([4, 2], np.int32)], num_heads=2)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    yield test_of("attention_mask", "Attention", [x, w, bias, mask], num_heads=2)
    yield test_of("attention_past", "Attention", [x, w, bias, None, past], 2, num_heads=2, unidirectional=1)
    bias_of = floats(2, 2, 4, 4, seed=4)
    yield test_of("attention_bias", "Attention", [x, w, bias, None, None, bias_of], num_heads=2)
    q, k, v = floats(2, 4, 8), floats(2, 6, 8, seed=1), floats(2, 6, 8, seed=2)
    yield test_of("multi_head_attention", "MultiHeadAttention", [q, k, v], num_heads=2)
    yield test_of("multi_head_attention_bias", "MultiHeadAttention", [q, k, v, bias], num_heads=2)
    wide = floats(1, 2, 4, 6, seed=5)
    yield test_of("multi_head_attention_added", "MultiHeadAttention", [q, k, v, None, None, wide], num_heads=2, scale=0.3)
    keys = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]], np.int32)
    yield test_of("multi_head_attention_mask", "MultiHeadAttention", [q, k, v, None, keys], num_heads=2)
    own = [floats(2, 4, 8, seed=seed) for seed in range(3)]
    pasts = [floats(2, 2, 3, 4, seed=seed) for seed in (6, 7)]
    yield test_of("multi_head_attention_past", "MultiHeadAttention", [*own, None, None, None, *pasts], 3, num_heads=2)
    yield test_of("multi_head_attention_unidirectional", "MultiHeadAttention", own, num_heads=2, unidirectional=1)
    x, places = floats(2, 3, 8), np.array([[0, 1, 2], [2, 3, 4]], np.int64)
    angles = floats(6, 2, seed=1)
    cos, sin = np.cos(angles), np.sin(angles)
    yield test_of("rotary", "RotaryEmbedding", [x, places, cos, sin])
    yield test_of("rotary_interleaved", "RotaryEmbedding", [x, places, cos, sin], interleaved=1)
    yield test_of("rotary_from", "RotaryEmbedding", [x, np.array([2], np.int64), cos, sin])
    yield test_of("rotary_part", "RotaryEmbedding", [x, places, cos[:, :1].copy(), sin[:, :1].copy()], num_heads=2, rotary_embedding_dim=2)


def quantised():
    x, zero, scale = bytes_of(1, 3, 6, 6), number(120, np.uint8), number(0.02)
    to, point = number(0.03), number(110, np.uint8)
    yield test_of("qlinear_sigmoid", "QLinearSigmoid", [x, scale, zero, number(0.004), number(0, np.uint8)], known=(1, 2, 3, 4), atol=1)
    yield test_of("qlinear_leaky_relu", "QLinearLeakyRelu", [x, scale, zero, to, point], known=(1, 2, 3, 4), atol=1)
    yield test_of("qlinear_softmax", "QLinearSoftmax", [x, scale, zero, number(0.004), number(0, np.uint8)], known=(1, 2, 3, 4), atol=1, axis=-1, opset=13)
    yield test_of("qlinear_add", "QLinearAdd", [x, scale, zero, bytes_of(1, 3, 6, 6, seed=1), to, point, number(0.04), zero], atol=1)
    yield test_of("qlinear_mul", "QLinearMul", [x, scale, zero, bytes_of(1, 3, 6, 6, seed=1), to, point, number(0.04), zero], atol=1)
    yield test_of("qlinear_average_pool", "QLinearAveragePool", [x, scale, zero, to, point], atol=1, kernel_shape=[2, 2], strides=[2, 2])
    yield test_of("qlinear_global_average_pool", "QLinearGlobalAveragePool", [x, scale, zero, to, point], atol=1)
    other = bytes_of(1, 2, 6, 6, seed=1)
    yield test_of("qlinear_concat", "QLinearConcat", [to, point, x, scale, zero, other, number(0.05), point], known=(0, 1, 3, 4, 6, 7), atol=1, axis=1)
    a, b = bytes_of(3, 8), weights_of(8, 5, seed=1)
    c = np.array([100, -2000, 3000, 0, 5], np.int32)
    half = [a, scale, zero, b, number(0.01), number(0, np.int8), c]
    yield test_of("qgemm", "QGemm", half)
    yield test_of("qgemm_quantised", "QGemm", [*half, number(0.2), zero], atol=1)
    yield test_of("matmul_integer_to_float", "MatMulIntegerToFloat", [a, b, scale, number(0.01), zero, number(0, np.int8), floats(5)])
    columns = np.abs(floats(5, seed=2)) * 0.01 + 0.001
    yield test_of("matmul_integer_to_float_columns", "MatMulIntegerToFloat", [a, b, scale, columns, zero])
    yield test_of("dynamic_quantize_matmul", "DynamicQuantizeMatMul", [floats(3, 8), b, number(0.01), number(0, np.int8), floats(5, seed=3)], known=(1, 2, 3), atol=1e-3)
    yield test_of("dynamic_quantize_matmul_columns", "DynamicQuantizeMatMul", [floats(3, 8), b, columns], known=(1, 2), atol=1e-3)
    x, rows, width, block = floats(2, 40), 40, 6, 16
    blocks = (rows + block - 1) // block
    packed, scales = bytes_of(width, blocks, block // 2), np.abs(floats(width * blocks)) + 0.01
    sizes = dict(K=rows, N=width, bits=4, block_size=block)
    yield test_of("matmul_n_bits", "MatMulNBits", [x, packed, scales], known=(1, 2), atol=1e-3, **sizes)
    zeros = bytes_of(width * ((blocks + 1) // 2), seed=4)
    yield test_of("matmul_n_bits_zero_points", "MatMulNBits", [x, packed, scales, zeros], known=(1, 2, 3), atol=1e-3, **sizes)
    sizes["bits"] = 8
    yield test_of("matmul_n_bits_8", "MatMulNBits", [x, bytes_of(width, blocks, block), scales], known=(1, 2), atol=1e-2, **sizes)


def lstm(name, batch=1, columns=False, kind=np.int8, direction="forward", lengths=None):
    inputs, units = 5, 4
    count = 2 if direction == "bidirectional" else 1
    x = floats(6, batch, inputs)
    w, r = weights_of(count, inputs, 4 * units, seed=1, kind=kind), weights_of(count, units, 4 * units, seed=2, kind=kind)
    size = (count, 4 * units) if columns else (count,)
    scales = [np.abs(floats(*size, seed=seed)) * 0.01 + 0.001 for seed in (3, 4)]
    zero = np.full(size, 0 if kind is np.int8 else 128, kind)
    bias, h, c = floats(count, 8 * units, seed=5), floats(count, batch, units, seed=6), floats(count, batch, units, seed=7)
    arrays = [x, w, r, bias, lengths, h, c, None, scales[0], zero, scales[1], zero]
    known = (1, 2, 3, 8, 9, 10, 11)
    return test_of(name, "DynamicQuantizeLSTM", arrays, 3, known, atol=2e-2, hidden_size=units, direction=direction)


def caches():
    width, heads, shared = 16, 4, 2

    def decoder(name, steps, past, lengths, packed=False, **more):
        batch, whole = len(lengths), (past or 0) + steps
        q, k, v = (floats(batch, steps, count * width, seed=seed) for seed, count in enumerate((heads, shared, shared)))
        if packed:
            q, k, v = np.concatenate([q, k, v], 2), None, None
        cache = [None, None] if past is None else [floats(batch, shared, past, width, seed=seed) for seed in (3, 4)]
        last, total = np.array(lengths, np.int32), np.array(whole, np.int32)
        angles = floats(16, width // 2, seed=5)
        turns = [np.cos(angles), np.sin(angles)] if more.get("do_rotary") else [None, None]
        arrays = [q, k, v, *cache, last, total, *turns]
        return test_of(name, "GroupQueryAttention", arrays, 3, (6,), num_heads=heads, kv_num_heads=shared, **more)

    yield decoder("gqa_prompt", 3, 0, [2, 2])
    yield decoder("gqa_next", 1, 4, [4, 4])
    yield decoder("gqa_rotary", 1, 4, [4, 4], do_rotary=1)
    yield decoder("gqa_rotary_prompt", 3, 0, [2], do_rotary=1, rotary_interleaved=1)
    yield decoder("gqa_packed", 3, 0, [2], packed=True, do_rotary=1)
    yield decoder("gqa_window", 1, 5, [5], local_window_size=3)
    yield decoder("gqa_scale", 2, 0, [1], scale=0.3, softcap=2.0)


def integers():
    x, w = bytes_of(2, 4, 8), weights_of(8, 24, seed=1)
    bias = floats(24, seed=2)
    scales, zeros = [number(0.02), number(0.01)], [number(120, np.uint8), number(0, np.int8)]
    known = (1, 2, 3, 4, 6, 7)
    own = [x, w, bias, *scales, None, *zeros]
    yield test_of("qattention", "QAttention", own, known=known, num_heads=2)
    yield test_of("qattention_unidirectional", "QAttention", own, known=known, num_heads=2, unidirectional=1)
    own[5] = np.array([4, 2], np.int32)
    yield test_of("qattention_lengths", "QAttention", own, known=known, num_heads=2)
    own[5] = None
    yield test_of("qattention_past", "QAttention", [*own, floats(2, 2, 2, 3, 4, seed=3)], 2, known, num_heads=2)
    yield lstm("dynamic_quantize_lstm")
    yield lstm("dynamic_quantize_lstm_columns", columns=True)
    yield lstm("dynamic_quantize_lstm_u8", kind=np.uint8)
    yield lstm("dynamic_quantize_lstm_both", direction="bidirectional")
    yield lstm("dynamic_quantize_lstm_lengths", lengths=np.array([4], np.int32))


def tests():
    if onnxruntime is None:
        return []
    return [own for family in (elementwise, products, norms, attentions, caches, quantised, integers) for own in family()]
