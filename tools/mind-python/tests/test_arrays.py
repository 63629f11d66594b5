"""Arrays into an executable and out of it."""

import array
import ctypes
import gc
import mmap
import subprocess
import sys
import weakref

import mind_opt as mo
import pytest
from conftest import PRODUCT, RELU

numpy = pytest.importorskip("numpy")


def relu():
    return mo.parse(RELU).compile(threads=1)


def product():
    return mo.parse(PRODUCT).compile(threads=1)


W = numpy.array([[1, -1], [1, 1]], "float32")
X = numpy.array([[1, 2], [3, 4]], "float32")
Y = [[3.0, 1.0], [7.0, 1.0]]


def test_calls_are_by_position_name_or_dict():
    f = product()
    for y in [f(X, W), f(x=X, w=W), f({"x": X, "w": W}), f(X, w=W)]:
        assert y.tolist() == Y
    g = f.bind(w=W)
    for y in [g(X), g(x=X), g({"x": X}), f.bind({"w": W})(X)]:
        assert y.tolist() == Y
    assert list(g.run(X)) == ["%3"] and g.run(X)["%3"].tolist() == Y


def test_several_outputs_are_a_tuple():
    f = mo.parse("%0 = Input {name=x} : tensor<f32[2]>\n%1 = Neg (%0)\noutputs: %1, %0").compile()
    one, other = f(numpy.array([1, -2], "float32"))
    assert (one.tolist(), other.tolist()) == ([-1, 2], [1, -2])


def test_wrong_calls_say_what_is_taken():
    f, g = product(), product().bind(w=W)
    cases = [
        (lambda: f(X), "no array is given for `w` of type f32[2, 2]"),
        (lambda: f(X, W, W), "3 arrays are given, expected 2"),
        (lambda: f(X, W, x=X), "`x` is given by position and by name"),
        (lambda: f(x=X, v=W), "the module has no input `v`"),
        (lambda: g(), "no array is given for `x`"),
        (lambda: g(x=X, w=W), "the module has no input `w`"),
        (lambda: f.bind(), "no array is given for `w`"),
        (lambda: f.bind(w=X[:1]), "`w` is f32[2, 2], found shape [1, 2]"),
        (lambda: g(X.astype("float64")), "`x` is f32, found f64"),
        (lambda: g(X[0]), "`x` is f32[B, 2], found shape [2]"),
        (lambda: g(numpy.zeros((2, 3), "float32")), "found shape [2, 3]"),
        (lambda: g(X.astype(">f4")), "no dtype has elements of format `>f`"),
        (lambda: g(X.astype("complex64")), "no dtype has elements of format `Zf`"),
        (lambda: g("text"), "str is not an array"),
        (lambda: g([[1.0, 2.0]]), "list is not an array"),
        (lambda: g(None), "NoneType is not an array"),
        (lambda: g(numpy.array(["a"])), "format"),
        (lambda: g(numpy.array([None])), "format `O`"),
    ]
    for call, text in cases:
        with pytest.raises(mo.ArrayError) as caught:
            call()
        assert text in str(caught.value), caught.value
    with pytest.raises(mo.ArrayError) as caught:
        g(x=X, w=W)
    assert caught.value.help == "the module takes x: f32[B, 2]"
    with pytest.raises(TypeError):
        f.bind({"w": W}, w=W)


def test_dimensions_must_agree():
    f = mo.parse("mic@2\nS B\nT0 f32 B\na x T0\na y T0\n+ 0 1\nO 2").compile()
    with pytest.raises(mo.CompileError, match="dimension B is 2 in one array and 3 in another"):
        f(numpy.zeros(2, "float32"), numpy.zeros(3, "float32"))


@pytest.mark.parametrize("dtype", "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split())
def test_every_dtype_goes_in_and_out(dtype):
    short = dtype.replace("float", "f").replace("uint", "u").replace("int", "i")
    f = mo.parse(f"%0 = Input {{name=x}} : tensor<{short}[2, 3]>\noutputs: %0").compile()
    x = numpy.array([[0, 1, 0], [1, 1, 0]], dtype)
    y = f(x)
    assert y.dtype == dtype and (y == x).all()


def test_bf16_goes_in_and_out_by_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    f = mo.parse("%0 = Input {name=x} : tensor<bf16[2]>\n%1 = Neg (%0)\noutputs: %1").compile()
    y = f(numpy.array([1.5, -2], ml_dtypes.bfloat16))
    assert y.dtype == ml_dtypes.bfloat16 and y.tolist() == [-1.5, 2]
    with pytest.raises(mo.ArrayError, match="`x` is bf16, found u16"):
        f(numpy.zeros(2, "uint16"))


def test_layouts_are_read_as_they_are():
    g = product().bind(w=W)
    wide = numpy.zeros((2, 4), "float32")
    wide[:, ::2] = X
    layouts = [
        numpy.asfortranarray(X),
        wide[:, ::2],
        X[::-1][::-1],
        X[::-1].copy()[::-1],
        X.T.copy().T,
        memoryview(X),
        memoryview(X).cast("B").cast("f", (2, 2)),
    ]
    read_only = X.copy()
    read_only.flags.writeable = False
    layouts.append(read_only)
    unaligned = numpy.frombuffer(b"\0" + X.tobytes(), "float32", offset=1).reshape(2, 2)
    layouts.append(unaligned)
    for x in layouts:
        assert g(x).tolist() == Y
    assert g(numpy.broadcast_to(X[0], (3, 2))).tolist() == [Y[0]] * 3


def test_weights_are_copied():
    w = W.copy()
    g = product().bind(w=w)
    w[:] = 0
    assert g(X).tolist() == Y


def test_empty_arrays_and_scalars():
    g = product().bind(w=W)
    assert g(numpy.zeros((0, 2), "float32")).shape == (0, 2)
    assert g(numpy.zeros((0, 4), "float32")[:, ::2]).shape == (0, 2)
    f = mo.parse("%0 = Input {name=x} : tensor<f32[]>\n%1 = Neg (%0)\noutputs: %1").compile()
    assert f(numpy.array(2, "float32")).tolist() == -2
    assert f(numpy.float32(2)).shape == ()
    assert f(ctypes.c_float(3)).tolist() == -3


def test_other_objects_with_buffers():
    f = relu()
    for x in [array.array("f", [-1, 0, 1, 2]), (ctypes.c_float * 4)(-1, 0, 1, 2)]:
        assert f(x).tolist() == [0, 0, 1, 2]
    memory = mmap.mmap(-1, 16)
    memory[:] = numpy.array([-1, 0, 1, 2], "float32").tobytes()
    view = memoryview(memory).cast("f")
    assert f(view).tolist() == [0, 0, 1, 2]
    # Nothing holds the memory after the call.
    view.release()
    memory.close()
    with pytest.raises(mo.ArrayError, match="u8"):
        f(b"\0" * 16)


def test_closed_memory_is_an_error():
    view = memoryview(array.array("f", [1, 2, 3, 4]))
    view.release()
    with pytest.raises(mo.ArrayError, match="released"):
        relu()(view)
    memory = mmap.mmap(-1, 16)
    memory.close()
    with pytest.raises(mo.ArrayError, match="closed"):
        relu()(memory)


def test_truth_values_are_zero_or_one():
    f = mo.parse("%0 = Input {name=x} : tensor<bool[3]>\noutputs: %0").compile()
    odd = numpy.array([0, 2, 255], "uint8").view("bool")
    assert f(odd).view("uint8").tolist() == [0, 1, 1]
    assert odd.view("uint8").tolist() == [0, 2, 255]
    for op in ["Cast (%0) {dtype=i32}", "Cast (%0) {dtype=u8}", "Not (%0)"]:
        g = mo.parse(f"%0 = Input {{name=x}} : tensor<bool[3]>\n%1 = {op}\noutputs: %1").compile()
        assert (g(odd) == g(odd.view("uint8") != 0)).all()


def test_results_can_be_written_and_outlive_everything():
    y = relu()(numpy.array([-1, 0, 1, 2], "float32"))
    assert y.flags.writeable and y.flags.c_contiguous
    y += 1
    view = y[1:]
    del y
    gc.collect()
    assert view.tolist() == [1, 2, 3]


def test_arrays_are_not_kept():
    x = numpy.array([-1, 0, 1, 2], "float32")
    alive = weakref.ref(x)
    relu()(x)
    del x
    gc.collect()
    assert alive() is None


def test_huge_dimensions_are_an_error():
    text = "mic@2\nS B\nT0 f32 B 1\nT1 f32 1 B\na x T0\na y T1\nm 0 1\nO 2"
    f = mo.parse(text).compile(threads=1)
    side = 2**21
    x = numpy.broadcast_to(numpy.float32(0), (side, 1))
    with pytest.raises(mo.MindError, match="memory|more than the allowed"):
        f(x, x.T)
    # More elements than memory, all of them one number.
    with pytest.raises(mo.ArrayError, match="out of memory for a contiguous copy"):
        relu()(numpy.broadcast_to(numpy.float32(0), (2**50,)))


def test_a_run_that_stops_is_an_error():
    f = mo.parse(
        "%0 = Input {name=x} : tensor<i32[2]>\n%1 = Input {name=y} : tensor<i32[2]>\n%2 = Div (%0, %1)\noutputs: %2"
    ).compile()
    with pytest.raises(mo.RunError, match="zero"):
        f(numpy.array([1, 2], "int32"), numpy.array([1, 0], "int32"))
    assert f(numpy.array([4, 2], "int32"), numpy.array([2, 1], "int32")).tolist() == [2, 2]


def test_tensors_of_other_libraries_come_by_dlpack():
    class Tensor:
        def __init__(self, own):
            self.own = own

        def __dlpack__(self, **options):
            return self.own.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.own.__dlpack_device__()

    assert relu()(Tensor(numpy.array([-1, 0, 1, 2], "float32"))).tolist() == [0, 0, 1, 2]

    class Elsewhere(Tensor):
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **options):
            raise BufferError("this tensor is on a GPU")

    with pytest.raises(mo.ArrayError, match="Elsewhere is not taken: it is on device 2"):
        relu()(Elsewhere(numpy.zeros(4, "float32")))

    class Wrong(Tensor):
        def __dlpack__(self, **options):
            return 7

    with pytest.raises(mo.ArrayError, match="Wrong is not taken"):
        relu()(Wrong(numpy.zeros(4, "float32")))
    for x in [numpy.arange(8, dtype="float32")[::2], numpy.arange(4, dtype="float32")[::-1]]:
        assert (relu()(Tensor(x)) == x).all()
    with pytest.raises(mo.ArrayError, match="no dtype has elements of format `DLPack code 5"):
        relu()(Tensor(numpy.zeros(4, "complex64")))
    with pytest.raises(mo.ArrayError, match="found f64"):
        relu()(Tensor(numpy.zeros(4)))
    owner = numpy.array([-1, 0, 1, 2], "float32")
    alive = weakref.ref(owner)
    relu()(Tensor(owner))
    del owner
    gc.collect()
    assert alive() is None


def test_wrong_configurations():
    module = mo.parse(RELU)
    with pytest.raises(ValueError, match="one thread at least"):
        module.compile(threads=0)
    with pytest.raises(ValueError, match="unknown instruction set `sse`"):
        module.compile(isa="sse")
    with pytest.raises(OverflowError):
        module.compile(threads=-1)


def test_every_instruction_set_gives_the_same_bits(examples):
    module = mo.load(examples / "classifier.onnx")
    image = numpy.linspace(-1, 1, 128, dtype="float32").reshape(2, 1, 8, 8)
    expected = module.interpret({"image": image})["classes"].tobytes()
    for isa in ["portable", "avx2", "avx512", None]:
        for threads in [1, 2]:
            try:
                f = module.compile(threads=threads, isa=isa)
            except mo.RejectedError as refused:
                assert "this machine cannot run" in str(refused)
                continue
            assert f(image).tobytes() == expected, (isa, threads)


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
import array, pickle
import mind_opt as mo
f = mo.parse("mic@2\\nT0 f32 2 2\\na x T0\\nr 0\\nO 1").compile(threads=1)
y = f(memoryview(array.array("f", [-1, 0, 1, 2])).cast("B").cast("f", (2, 2)))
assert type(y) is mo.Array and repr(y) == "Array(f32[2, 2])", y
assert (y.shape, y.dtype, len(y), y.tolist()) == ((2, 2), "f32", 2, [[0, 0], [1, 2]])
view = memoryview(y)
assert (view.format, view.shape, view.strides, view.readonly) == ("f", (2, 2), (8, 4), False)
view[0, 0] = 5
assert f(y).tolist() == [[5, 0], [1, 2]]
assert pickle.loads(pickle.dumps(y)).tolist() == y.tolist()
b = mo.parse("%0 = Input {name=x} : tensor<bf16[]>\\n%1 = Neg (%0)\\noutputs: %1").compile()
g = mo.parse("%0 = Input {name=x} : tensor<f32[]>\\n%1 = Cast (%0) {dtype=bf16}\\noutputs: %1").compile()
one = g(memoryview(array.array("f", [1])).cast("B").cast("f", ()))
assert one.dtype == "bf16" and memoryview(b(one)).tolist() == 0xbf80
try:
    len(one)
except TypeError:
    pass
else:
    raise AssertionError
"""


def test_numpy_is_not_needed():
    subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], check=True)


def test_modules_that_run_in_parts():
    # How many elements there are, only running tells.
    f = mo.parse("%0 = Input {name=x} : tensor<f32[B]>\n%1 = NonZero (%0)\n%2 = Neg (%0)\noutputs: %1, %2").compile()
    for x in [[0, 3, 0, 5], [0], [1, 2]]:
        x = numpy.array(x, "float32")
        places, negated = f(x)
        assert (places == numpy.nonzero(x)).all() and (negated == -x).all()
    with pytest.raises(mo.ArrayError, match="found f64"):
        f(numpy.zeros(2))


def test_large_results():
    side = 1500
    f = mo.parse(f"mic@2\nT0 f32 {side} {side}\na x T0\nr 0\nO 1").compile(threads=2)
    x = numpy.random.default_rng(1).standard_normal((side, side)).astype("float32")
    y, z = f(x), f(-x)
    assert (y == numpy.maximum(x, 0)).all() and (z == numpy.maximum(-x, 0)).all()


def test_results_go_to_other_libraries_by_dlpack():
    torch = pytest.importorskip("torch")
    f = mo.parse("%0 = Input {name=x} : tensor<bf16[2, 3]>\n%1 = Neg (%0)\noutputs: %1").compile().bind()
    x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.bfloat16)
    (array,) = f._arrays({"x": x})
    shared = torch.from_dlpack(array)
    assert torch.equal(shared, -x)
    shared[0, 0] = 7
    assert memoryview(array).tolist()[0][0] == 0x40E0
    del array
    gc.collect()
    assert shared[1].tolist() == [-4, -5, -6]


def test_an_array_is_a_tensor_of_dlpack():
    g = relu().bind()
    for make in [lambda own: numpy.from_dlpack(own), lambda own: own.__dlpack__()]:
        (array,) = g._arrays({"x": numpy.array([-1, 0, 1, 2], "float32")})
        made = make(array)
        del array
        gc.collect()
    assert "capsule" in type(made).__name__.lower()
    (array,) = g._arrays({"x": numpy.array([-1, 0, 1, 2], "float32")})
    assert numpy.from_dlpack(array).tolist() == [0, 0, 1, 2]
    with pytest.raises(BufferError):
        array.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        array.__dlpack__(copy=True)


NAN = {"float16": 0x7E00, "float32": 0x7FC00000, "float64": 0x7FF8000000000000}


@pytest.mark.parametrize("dtype", NAN)
@pytest.mark.parametrize("op", ["Sqrt (%0)", "Neg (%0)", "Sub (%0, %0)", "Maximum (%0, %0)", "Log (%0)", "Transpose (%0) {permutation=[0]}"])
def test_every_nan_of_a_result_has_the_same_bits(dtype, op):
    short = dtype.replace("float", "f")
    module = mo.parse(f"%0 = Input {{name=x}} : tensor<{short}[n]>\n%1 = {op}\noutputs: %1, %0")
    x = numpy.random.default_rng(1).standard_normal(3000).astype(dtype)
    x[::3], x[1::5], x[2::7] = numpy.nan, -numpy.inf, -numpy.float16("nan")
    word = f"u{numpy.dtype(dtype).itemsize}"
    x.view(word)[4::11] |= 0xFFFF
    given = x.copy()
    runs = [module.interpret({"x": x}).values()]
    for isa in ["avx2", "portable"]:
        try:
            f = module.compile(threads=1, isa=isa)
        except mo.RejectedError:
            continue
        runs += [f(x), [numpy.concatenate(own) for own in zip(*(f(x[at : at + 7]) for at in range(0, 3000, 7)))]]
    for outputs in runs:
        for output in outputs:
            assert set(output.view(word)[numpy.isnan(output)].tolist()) <= {NAN[dtype]}
    assert len({b"".join(own.tobytes() for own in outputs) for outputs in runs}) == 1
    # What is given is not written.
    assert x.tobytes() == given.tobytes()
