"""Values of Python programs as attributes: arrays and scalars of numpy, NaN."""

import mind_opt as mo
import pytest

numpy = pytest.importorskip("numpy")


def constant(data, **attributes):
    b = mo.Builder()
    b.output(b.op("ConstTensor", data=data, **attributes))
    return b.build()


@pytest.mark.parametrize("dtype", "float16 float32 float64 int8 int64 uint8 uint64 bool".split())
def test_arrays_are_constants(dtype):
    data = numpy.array([[0, 1, 1], [1, 0, 1]], dtype)
    module = constant(data)
    (op,) = module.ops
    found = module.constant(op.id)
    assert found.dtype == data.dtype and (found == data).all()
    short = op.dtype
    assert (constant(data.tolist(), type=f"{short}[2, 3]").constant(0) == data).all()


def test_values_that_json_has_no_number_for():
    data = numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0, 1e-45, 3.4e38], "float32")
    assert constant(data).constant(0).tobytes() == data.tobytes()
    for value in [float("nan"), numpy.float32("nan"), numpy.float64("inf")]:
        found = constant([value], type="f32[1]").constant(0)
        assert numpy.array_equal(found, numpy.array([value], "float32"), equal_nan=True)
    big = numpy.array([2**64 - 1, 0], "uint64")
    assert (constant(big).constant(0) == big).all()


def test_bf16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data = numpy.array([1.5, -2, numpy.nan], ml_dtypes.bfloat16)
    found = constant(data).constant(0)
    assert found.dtype == data.dtype and numpy.array_equal(found, data, equal_nan=True)


def test_empty_and_scalar_arrays():
    assert constant(numpy.zeros((0, 3), "float32")).outputs[0].type == "f32[0, 3]"
    assert constant(numpy.float32(2)).outputs[0].type == "f32[]"
    assert constant(numpy.arange(6).reshape(2, 3).T).constant(0).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_scalars_are_numbers():
    b = mo.Builder()
    x = b.input("x", "f32[2, 3]")
    y = b.op("Transpose", numpy.int64(x), permutation=numpy.array([1, 0]))
    y = b.op("Softmax", y, axis=numpy.int32(1))
    b.output(numpy.uint8(y))
    module = b.build()
    assert module.outputs[0].type == "f32[3, 2]"

    def negated(rewriter):
        (op,) = [op for op in rewriter.ops if op.name == "Softmax"]
        rewriter.set(op, axis=numpy.int64(0))
        rewriter.set_outputs([numpy.int64(rewriter.insert("Neg", [numpy.int16(op.id)]))])

    (*_, op, _) = module.run_passes(negated).ops
    assert op.attributes["axis"] == 0
    edits = [{"set": numpy.int64(y), "attribute": "axis", "to": numpy.int8(0)}]
    assert module.patch(edits).ops[-1].attributes["axis"] == 0


def test_two_inputs_of_one_name_are_refused():
    b = mo.Builder()
    b.input("x", "f32[2]")
    for again in [b.input, b.param]:
        with pytest.raises(ValueError, match="there is an input or weight `x` already"):
            again("x", "f32[2]")


def test_what_is_no_value_says_so():
    b = mo.Builder()
    x = b.input("x", "f32[2]")
    for wrong in [True, 1.5, numpy.float32(1), "x", None, numpy.array([1, 2])]:
        with pytest.raises(mo.PatchError, match="is not a value"):
            b.op("Relu", wrong)
    with pytest.raises(TypeError, match="set"):
        b.output(b.op("Softmax", x, axis={1}))
        b.build()
