"""Reading, walking, optimising, comparing and writing modules."""

import pathlib

import mind_opt as mo
import pytest
from conftest import PRODUCT, RELU

REPEATED = "mic@2\nT0 f32 4\na x T0\nr 0\nr 1\nO 2"


def test_the_content_tells_the_format(examples, tmp_path):
    for name in ["mlp.mic", "residual.mic", "softmax.core", "classifier.onnx"]:
        path = examples / name
        module = mo.load(path)
        assert str(module) == str(mo.load(str(path)))
        assert str(module) == str(mo.load(path.read_bytes()))
        assert str(module) == str(mo.load(memoryview(path.read_bytes())))
    # Names of files say nothing about texts.
    odd = tmp_path / "odd.txt"
    odd.write_text(RELU)
    assert mo.load(odd).to_text("mic2") == RELU


def test_ports_have_names_and_types(examples):
    module = mo.load(examples / "classifier.onnx")
    (image,) = module.inputs
    assert (image.name, image.type, image.dtype) == ("image", "f32[batch, 1, 8, 8]", "f32")
    assert image.shape == ("batch", 1, 8, 8)
    assert [port.name for port in module.outputs] == ["classes"]
    assert repr(image) == "Port(image: f32[batch, 1, 8, 8])"
    module = mo.parse(PRODUCT)
    assert [port.type for port in module.params] == ["f32[2, 2]"]
    assert [port.name for port in module.outputs] == ["%3"]
    assert mo.parse("%0 = Input {name=x} : tensor<f32[?]>\noutputs: %0").inputs[0].shape == (None,)


def test_dims_are_given_to_any_module(examples):
    assert mo.load(examples / "classifier.onnx", dims={"batch": 3}).inputs[0].shape[0] == 3
    assert mo.parse(PRODUCT, dims={"B": 3}).outputs[0].shape == (3, 2)
    with pytest.raises(mo.RejectedError, match="no dimension `C`"):
        mo.parse(PRODUCT, dims={"C": 3})
    for extent in [-1, 2**70, 1.5, "3", 2**63]:
        with pytest.raises(ValueError, match="extent of `B`"):
            mo.parse(PRODUCT, dims={"B": extent})


def test_inputs_become_constants(examples):
    numpy = pytest.importorskip("numpy")
    image = numpy.full((1, 1, 8, 8), 0.5, "float32")
    module = mo.load(examples / "classifier.onnx", bind={"image": image})
    assert module.inputs == []
    with pytest.raises(mo.RejectedError, match="only of ONNX and StableHLO files"):
        mo.load(examples / "mlp.mic", bind={"x": image})


def test_ops_are_walked():
    text = (
        "%0 = Input {name=x} : tensor<f32[2, 3]>\n"
        "%1 = Sum (%0) {axes=[1], keepdims=true}\n"
        "%2 = Reshape (%1) {new_shape=[2]}\n"
        "outputs: %2"
    )
    module = mo.parse(text)
    source, total, flat = module.ops
    assert [op.name for op in module.ops] == ["Input", "Sum", "Reshape"]
    assert (total.id, total.operands, total.results) == (1, (0,), (1,))
    assert (total.type, total.dtype, total.shape) == ("f32[2, 1]", "f32", (2, 1))
    assert total.attributes == {"axes": [1], "keepdims": True}
    assert flat.attributes == {"new_shape": (2,)}
    assert (total.line, source.bodies) == (2, [])
    assert repr(total) == "<%1 = Sum (%0) : f32[2, 1]>"
    assert module.output_ids == [2]


def test_bodies_are_walked(examples):
    fused = mo.load(examples / "residual.mic").optimize()
    (group,) = [op for op in fused.ops if op.name == "Fused"]
    assert group.attributes["kind"] == "contraction"
    (body,) = group.bodies
    assert [op.name for op in body.ops] == ["MatMul", "Add", "Relu", "Add"]
    assert len(body.arguments) == 3
    assert body.outputs == (body.ops[-1].id,)


def test_constants_are_read():
    module = mo.parse("%0 = ConstF32 {value=2.5} : tensor<f32[]>\noutputs: %0")
    assert module.constant(0).tolist() == 2.5
    with pytest.raises(ValueError, match="%7 is not a constant"):
        module.constant(7)


def test_modules_do_not_change():
    module = mo.parse(REPEATED)
    optimized = module.optimize(2)
    assert module.to_text("mic2") == REPEATED
    assert optimized.to_text("mic2") == RELU
    assert module.passes == [] and optimized.passes != []
    with pytest.raises(ValueError, match="invalid level 4"):
        module.optimize(4)


def test_remarks_and_explanations_say_what_was_done():
    optimized = mo.parse(REPEATED).run_passes("canonicalize")
    (remark,) = optimized.remarks()
    assert (remark.pass_name, remark.rules, remark.line) == ("canonicalize", ["relu-relu"], 5)
    assert remark.acted and remark.text == "core.relu %2 became core.relu %1"
    assert optimized.passes == [("canonicalize", True)]
    told = mo.parse(REPEATED).optimize().explain("out:0")
    assert "core.relu %2 at <text>:5 -> core.relu %1" in told
    with pytest.raises(mo.RejectedError, match="no value of the output is called `%9`"):
        optimized.explain("%9")


def test_a_switched_off_rule_does_not_act():
    module = mo.parse(REPEATED)
    kept = module.run_passes("canonicalize", disable=["relu-relu"])
    assert kept.to_text("mic2") == REPEATED


def test_fast_math_is_asked_for_by_class():
    text = "%0 = Input {name=x} : tensor<f32[4]>\n%1 = ConstF32 {value=0.0} : tensor<f32[]>\n%2 = Add (%0, %1)\noutputs: %2"
    module = mo.parse(text)
    count = lambda **options: len(module.optimize(**options).ops)
    assert count() == 3
    assert count(fast_math="nsz") == count(fast_math=["nsz"]) == count(fast_math=True) == 1
    with pytest.raises(ValueError, match="unknown class `fast`"):
        module.optimize(fast_math="fast")


def test_modules_are_compared():
    one, other = mo.parse(RELU), mo.parse(RELU.replace("r 0", "th 0"))
    assert one.diff(one) == ""
    assert "+%1 = Tanh (%0)" in one.diff(other)
    assert one.equal_bits(mo.parse(REPEATED)) and one.equal_bits(mo.parse(REPEATED), seed=7)
    assert not one.equal_bits(other)
    assert "elements differ" in one.bit_difference(other, 1)
    assert one.bit_difference(one) is None
    with pytest.raises(mo.RejectedError):
        one.bit_difference(mo.parse(PRODUCT))


def test_what_is_saved_is_read_back(tmp_path, examples):
    module = mo.load(examples / "classifier.onnx", dims={"batch": 1}).optimize(1)
    for name in ["m.core", "m.onnx", "m.mlpackage"]:
        module.save(tmp_path / name)
        module.save(str(tmp_path / name))
        again = mo.load(tmp_path / name)
        assert len(again.inputs) == 1 and len(again.outputs) == 1, name
    assert mo.load(tmp_path / "m.onnx").outputs[0].name == "classes"
    assert mo.load(module.to_bytes("onnx")).equal_bits(module)
    for name, start in [("m.c", "/*"), ("m.svg", "<svg"), ("m.dot", "digraph"), ("m.html", "<!doctype")]:
        module.save(tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start) or name == "m.c"
    with pytest.raises(mo.RejectedError, match="no format has the extension"):
        module.save(tmp_path / "m.zip")
    with pytest.raises(mo.FileNotFound):
        module.save(tmp_path / "no" / "m.core")


def test_texts_are_those_of_the_formats():
    module = mo.parse(RELU)
    assert module.to_text() == str(module) == "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Relu (%0) : tensor<f32[4]>\noutputs: %1"
    assert module.to_bytes("mic2") == RELU.encode()
    with pytest.raises(mo.RejectedError, match="`core2` is not a format"):
        module.to_text("core2")
    with pytest.raises(ValueError, match="`onnx` is not a text format"):
        module.to_text("onnx")
    with pytest.raises(ValueError, match="is a folder"):
        module.to_bytes("mlpackage")


def test_what_a_format_cannot_say_is_listed(examples):
    module = mo.load(examples / "residual.mic").optimize()
    (finding,) = module.missing("mic2")
    assert finding.severity == "error" and "fused" in finding.message
    assert module.missing("core") == module.missing("onnx") == []
    with pytest.raises(mo.RejectedError, match="is not a format"):
        module.missing("onyx")


def test_edits_are_made_together_or_not_at_all():
    module = mo.parse(RELU)
    edits = [{"replace": 1, "with": {"op": "Tanh", "operands": [0]}}]
    assert module.patch(edits).to_text("mic2") == RELU.replace("r 0", "th 0")
    with pytest.raises(mo.PatchError, match="edit 1"):
        module.patch([{"delete": 9}])
    with pytest.raises(mo.PatchError, match="edits"):
        module.patch("nonsense")
    assert module.to_text("mic2") == RELU


def test_modules_are_built():
    b = mo.Builder()
    x, w = b.input("x", "f32[B, 2]"), b.param("w", "f32[2, 2]")
    b.output(b.op("Relu", b.op("MatMul", x, w)))
    assert b.build().to_text("mic2") == mo.parse(PRODUCT).to_text("mic2")
    b = mo.Builder()
    b.output(b.op("Sum", b.input("x", "f32[2, 3]"), axes=[1]))
    assert b.build().outputs[0].type == "f32[2]"
    b = mo.Builder()
    b.output(b.op("Sum", b.input("x", "f32[2, 3]"), axes=[5]))
    with pytest.raises(mo.MindError):
        b.build()
    with pytest.raises(mo.RejectedError, match="unknown element type `f33`"):
        b = mo.Builder()
        b.input("x", "f33[2]")
        b.build()


def test_notebooks_show_the_drawing_and_the_types():
    page = mo.parse(PRODUCT)._repr_html_()
    assert "<svg" in page and "f32[B, 2]" in page and "<td>weight</td><td>w</td>" in page
    hostile = mo.parse("%0 = Input {name=\"<script>\"} : tensor<f32[2]>\noutputs: %0")
    assert "<script>" not in hostile._repr_html_()


def test_large_modules_are_no_trouble():
    count = 20_000
    text = "mic@2\nT0 f32 4\na x T0\n" + "".join(f"th {at}\n" for at in range(count)) + f"O {count}"
    module = mo.parse(text)
    assert len(module.ops) == count + 1
    assert len(module.optimize(1).ops) == count + 1


def test_paths_of_the_file_system_are_taken(tmp_path):
    path = tmp_path / "müll 模.mic2"
    path.write_text(RELU)
    assert mo.load(pathlib.Path(path)).to_text("mic2") == RELU
    with pytest.raises(TypeError, match="from a path or from bytes"):
        mo.load(7)
    with pytest.raises(TypeError):
        mo.load(None)


def test_inputs_come_before_ops():
    b = mo.Builder()
    b.op("Neg", b.input("x", "f32[2]"))
    for declare in [b.input, b.param]:
        with pytest.raises(TypeError, match="come before ops"):
            declare("y", "f32[2]")


def test_large_constants_are_not_shown_whole():
    numpy = pytest.importorskip("numpy")
    data = numpy.arange(10_000, dtype="float32")
    b = mo.Builder()
    b.output(b.op("ConstTensor", data=data), b.op("ConstTensor", data=data[:4]))
    module = b.build()
    assert len(str(module)) < 400 and "..." in str(module)
    assert str(module).splitlines()[1] == module.to_text().splitlines()[1]
    assert "9999.0" in str(module) and "[0.0" in str(module)
    assert mo.parse(module.to_text()).constant(0).tobytes() == data.tobytes()


def test_formats_are_called_by_their_words():
    text = "module @m {\n  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n    return %arg0 : tensor<2xf32>\n  }\n}"
    assert mo.load(text.encode(), format="stablehlo").outputs[0].type == "f32[2]"
    assert mo.parse(text, format="stablehlo").outputs[0].type == "f32[2]"
    module = mo.parse("mic@2\nT0 f32 4\na x T0\nr 0\nO 1")
    assert mo.load(module.to_bytes(), format="onnx").outputs[0].type == "f32[4]"
    with pytest.raises(ValueError, match="`tflite` is not a format that a module is read from; those are .*onnx.*stablehlo"):
        mo.load(b"", format="tflite")
