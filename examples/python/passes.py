"""A pass and a rule of one's own, in one pipeline."""

import mind_opt as mo

TEXT = """\
%0 = Input {name=x} : tensor<f32[2, 8]>
%1 = Neg (%0)
%2 = Maximum (%0, %1)
%3 = Reshape (%2) {new_shape=[16]}
%4 = Reshape (%3) {new_shape=[2, 8]}
%5 = Tanh (%4)
outputs: %5
"""


@mo.Pass
def drop_round_trips(rewriter):
    """A reshape that leads back to the shape before another one is undone."""
    for op in rewriter.ops:
        if op.name != "Reshape":
            continue
        inner = rewriter.defining(op.operands[0])
        if inner is None or inner.name != "Reshape":
            continue
        source = rewriter.defining(inner.operands[0])
        if source is not None and source.shape == op.shape:
            rewriter.erase(op, instead=source)


# A rule is checked before it may act: both sides are evaluated on many modules and values.
rules = mo.rules(
    """
rule maximum-neg
  class exact
  core.maximum(?x, core.neg(?x)) => core.abs(?x)
""",
    name="mine.rules",
)

module = mo.parse(TEXT, name="mine.core")
after = module.run_passes([drop_round_trips, "fold,dce"], rules=rules)
print(after)
assert [op.name for op in after.ops] == ["Input", "Abs", "Tanh"]
assert after.passes[0] == ("drop_round_trips", True)

# Neither changed a bit.
assert module.equal_bits(after)

# A rule that is wrong never acts, and the error shows why.
try:
    mo.rules("rule hasty\n  class exact\n  core.maximum(?x, core.neg(?x)) => core.neg(?x)\n")
except mo.RejectedError as refused:
    print(refused)
else:
    raise AssertionError("a wrong rule was taken")
