"""Passes in Python, and rules from text."""

import mind_opt as mo
import pytest
from conftest import RELU

NEGS = "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Neg (%0)\n%2 = Neg (%1)\n%3 = Tanh (%2)\noutputs: %3"


@mo.Pass
def neg_neg(rewriter):
    """Two negations are none."""
    for op in rewriter.ops:
        inner = rewriter.defining(op.operands[0]) if op.name == "Neg" else None
        if inner is not None and inner.name == "Neg":
            rewriter.erase(op, instead=inner.operands[0])


def names(module):
    return [op.name for op in module.ops]


def test_a_pass_stands_in_a_pipeline():
    module = mo.parse(NEGS)
    after = module.run_passes([neg_neg, "dce"], disable=["neg-neg"])
    assert names(after) == ["Input", "Tanh"]
    assert after.passes == [("neg_neg", True), ("dce", True)]
    assert module.equal_bits(after)
    assert names(neg_neg(module)) == ["Input", "Neg", "Tanh"]
    assert neg_neg(after).passes[-1] == ("neg_neg", False)
    assert (neg_neg.name, neg_neg.__doc__) == ("neg_neg", "Two negations are none.")


def test_a_plain_function_is_a_pass():
    def tanh_to_relu(rewriter):
        for op in rewriter.ops:
            if op.name == "Tanh":
                rewriter.replace(op, "Relu", op.operands)

    module = mo.parse(NEGS).run_passes(tanh_to_relu)
    assert names(module) == ["Input", "Neg", "Neg", "Relu"]
    assert module.passes == [("tanh_to_relu", True)]


def test_ops_are_made_and_readers_are_found():
    def halve(rewriter):
        (tanh,) = [op for op in rewriter.ops if op.name == "Tanh"]
        assert [op.name for op in rewriter.users(1)] == ["Neg"]
        assert rewriter.users(tanh) == [] and rewriter.outputs == [tanh.id]
        half = rewriter.insert("ConstF32", [], type="f32[]", value=0.5)
        product = rewriter.insert("Mul", [tanh, half])
        rewriter.set_outputs([product])

    module = mo.parse(NEGS).run_passes(halve)
    assert names(module)[-2:] == ["ConstF32", "Mul"]
    import array

    (y,) = module.interpret({"x": array.array("f", [0, 0, 0, 0])}).values()
    assert y.tolist() == [0, 0, 0, 0]


def test_attributes_are_set():
    module = mo.parse("%0 = Input {name=x} : tensor<f32[2, 3]>\n%1 = Sum (%0) {axes=[1]}\noutputs: %1")

    def keep(rewriter):
        rewriter.set(1, keepdims=True)

    assert module.run_passes(keep).outputs[0].type == "f32[2, 1]"


def test_a_wrong_pass_changes_nothing():
    module = mo.parse(NEGS)
    cases = [
        (lambda r: r.erase(1), "still reads it"),
        (lambda r: r.replace(1, "Nag", [0]), "Nag"),
        (lambda r: r.replace(1, "Add", [0]), "operand"),
        (lambda r: r.erase(99), "99"),
        (lambda r: r.set(1, colour="red"), "colour"),
        (lambda r: r.erase("x"), "is not a value"),
        (lambda r: r.erase(True), "is not a value"),
    ]
    for wrong, text in cases:
        with pytest.raises(mo.PatchError, match=text) as caught:
            module.run_passes(wrong)
        assert str(caught.value)
    with pytest.raises(TypeError, match="not both"):
        module.run_passes(lambda r: r.insert("Neg", [0], before=1, after=1))
    with pytest.raises(ZeroDivisionError):
        module.run_passes(lambda r: 1 / 0)
    assert mo.parse(NEGS).diff(module) == ""


RULE = """\
rule maximum-neg
  class exact
  core.maximum(?x, core.neg(?x)) => core.abs(?x)
"""

WRONG_RULE = """\
rule hasty
  class exact
  core.maximum(?x, core.neg(?x)) => core.neg(?x)
"""


def test_a_rule_from_text_acts():
    rules = mo.rules(RULE, name="mine.rules")
    module = mo.parse("%0 = Input {name=x} : tensor<f32[4]>\n%1 = Neg (%0)\n%2 = Maximum (%0, %1)\noutputs: %2")
    after = module.run_passes("fold,dce", rules=rules)
    assert names(after) == ["Input", "Abs"]
    assert ["maximum-neg"] in [remark.rules for remark in after.remarks()]
    assert module.equal_bits(after)
    assert names(module.optimize(rules=[rules])) == ["Input", "Abs"]
    with pytest.raises(TypeError):
        module.optimize(rules="maximum-neg")


def test_a_wrong_rule_is_refused_with_a_counterexample():
    with pytest.raises(mo.RejectedError) as caught:
        mo.rules(WRONG_RULE, name="mine.rules")
    assert "rule `hasty` is not `exact`" in str(caught.value)
    assert caught.value.place == ("mine.rules", 1, 6)
    (verdict,) = mo.check_rules(WRONG_RULE)
    assert not verdict.holds and "the left side gives" in verdict.reason
    assert "Maximum" in verdict.counterexample
    assert mo.parse(verdict.counterexample).outputs
    (verdict,) = mo.check_rules(RULE)
    assert verdict.holds and verdict.reason is None and verdict.elements > 0
    assert (verdict.name, verdict.rule_class, verdict.reversed) == ("maximum-neg", "exact", False)
    with pytest.raises(mo.RejectedError):
        mo.check_rules("rule\n")


def test_missed_rules_are_reported_where_asked():
    module = mo.parse(RELU)
    assert all(remark.acted for remark in module.optimize().remarks())
    module = mo.parse("%0 = Input {name=x} : tensor<f32[4]>\n%1 = ConstF32 {value=0.0} : tensor<f32[]>\n%2 = Add (%0, %1)\noutputs: %2")
    missed = [remark for remark in module.optimize(missed=True).remarks() if not remark.acted]
    assert missed and all(remark.text for remark in missed)
