"""Graphs of PyTorch."""

import warnings

import pytest
from conftest import block

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")


@pytest.fixture(autouse=True)
def alone():
    """No test reuses what another one compiled."""
    torch._dynamo.reset()
    torch.manual_seed(1)


class Residual(torch.nn.Module):
    """Convolutions as in a ResNet."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x):
        y = torch.relu(self.norm(self.first(x)))
        y = torch.relu(y + self.second(y))
        return self.head(y.mean((2, 3)))


class Attention(torch.nn.Module):
    """A layer as in BERT."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.qkv = torch.nn.Linear(16, 48)
        self.out = torch.nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).reshape(*x.shape[:2], 3, 2, 8).permute(2, 0, 3, 1, 4)
        mixed = torch.softmax(q @ k.transpose(-1, -2) * 8**-0.5, -1) @ v
        return x + self.out(torch.nn.functional.gelu(mixed.transpose(1, 2).reshape(x.shape)))


def compiled(model):
    from mind_opt.torch import backend

    return torch.compile(model, backend=backend, dynamic=False)


@pytest.mark.parametrize("model, shape", [(Residual, (2, 3, 16, 16)), (Attention, (2, 6, 16))])
def test_models_compute_what_they_do_in_eager_mode(model, shape):
    model = model().eval()
    run = compiled(model)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for size in [2, 3]:
            x = torch.randn(size, *shape[1:])
            assert torch.allclose(run(x), model(x), atol=1e-5)


def test_changed_parameters_are_seen():
    model = Attention().eval()
    run, x = compiled(model), torch.randn(1, 6, 16)
    with torch.no_grad():
        before = run(x)
        model.out.weight.mul_(2)
        assert not torch.allclose(run(x), before, atol=1e-5)
        assert torch.allclose(run(x), model(x), atol=1e-5)


def test_what_does_not_run_falls_back_with_a_reason():
    model, x = Attention().eval(), torch.randn(1, 6, 16)
    with pytest.warns(UserWarning, match="eager mode: gradients are needed"):
        assert compiled(model)(x).requires_grad
    with torch.no_grad(), pytest.warns(UserWarning, match="is not among the operators whose export was compared"):
        own = lambda x: torch.special.i0(x)
        assert torch.equal(compiled(own)(x), own(x))


def test_the_backend_is_known_by_name():
    from importlib.metadata import entry_points

    names = [entry.name for entry in entry_points(group="torch_dynamo_backends")]
    assert "mind" in names


def test_tensors_go_in_as_they_are():
    import mind_opt as mo

    f = mo.parse("%0 = Input {name=x} : tensor<bf16[2, 3]>\n%1 = Neg (%0)\noutputs: %1").compile()
    x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.bfloat16)
    expected = (-x).view(torch.int16).numpy().tobytes()
    for given in [x, x.T.contiguous().T]:
        assert memoryview(f(given).view("uint16")).tobytes() == expected
    with pytest.raises(mo.ArrayError, match="gradient"):
        f(x.requires_grad_())


def test_the_page_is_true():
    exec(compile(block("torch.compile"), "python.md", "exec"), {})
