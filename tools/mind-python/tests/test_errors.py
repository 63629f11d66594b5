"""What exceptions say."""

import pickle

import mind_opt as mo
import pytest

WRONG = """mic@2
T0 f32 4 8
T1 f32 8 16
T2 f32 12
a x T0
p w T1
p b T2
m 0 1
+ 3 2
O 4
"""

PRINTED = """error[E3001]: broadcasting failed at dimension 1: extent 16 against 12
 --> wrong.mic2:9:1
  |
9 | + 3 2
  | ^^^^^ shapes [4, 16] and [12]
  |
  = help: make both extents equal at dimension 1, or one of them 1"""


def refused(call):
    with pytest.raises(mo.MindError) as caught:
        call()
    return caught.value


def test_an_error_prints_as_the_tools_print_it():
    error = refused(lambda: mo.parse(WRONG, name="wrong.mic2"))
    assert str(error) == PRINTED
    assert type(error) is mo.RejectedError and isinstance(error, ValueError)
    assert (error.code, error.place) == ("E3001", ("wrong.mic2", 9, 1))
    assert error.place.line == 9
    assert error.help == "make both extents equal at dimension 1, or one of them 1"
    (finding,) = error.diagnostics
    assert (finding.severity, finding.code, finding.place) == ("error", "E3001", error.place)


def test_all_mistakes_are_listed():
    error = refused(lambda: mo.parse("mic@2\nT0 f32 4\na x T0\nm 0\n+ 0\nO 1"))
    assert [found.place.line for found in error.diagnostics if found.severity == "error"][:2] == [4, 5]


def test_files_that_cannot_be_read(tmp_path):
    error = refused(lambda: mo.load(tmp_path / "none.mic"))
    assert type(error) is mo.FileNotFound
    assert isinstance(error, FileNotFoundError) and isinstance(error, OSError)
    assert "none.mic" in str(error) and error.code is None
    error = refused(lambda: mo.load(tmp_path))
    assert type(error) is mo.FileError


@pytest.mark.parametrize("bytes", [b"", b"\0", b"\xff" * 100, b"mic@2\n\xff", b"{}", b"\x08\x07\x12", b"mic@9\nO 0"])
def test_any_bytes_are_refused_with_a_reason(bytes):
    error = refused(lambda: mo.load(bytes))
    assert isinstance(error, mo.RejectedError) and str(error).startswith("error")


def test_truncated_models_are_refused(examples):
    model = (examples / "classifier.onnx").read_bytes()
    for end in range(0, len(model), 97):
        try:
            mo.load(model[:end])
        except mo.MindError:
            pass


def test_wrong_pipelines_and_formats():
    module = mo.parse("mic@2\nT0 f32 4\na x T0\nO 0")
    error = refused(lambda: module.run_passes("canonicalise-all"))
    assert type(error) is mo.RejectedError and error.place.file == "<pipeline>"
    with pytest.raises(ValueError, match="`mic3` is not a format that a module is read from; those are mic1"):
        mo.parse("mic@2\nO", format="mic3")
    for step in [7, [7], None]:
        with pytest.raises(TypeError):
            module.run_passes(step)


def test_errors_travel_between_processes():
    error = refused(lambda: mo.parse(WRONG, name="wrong.mic2"))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
    assert (again.code, again.place, again.help) == (error.code, error.place, error.help)
    assert again.diagnostics == error.diagnostics
    missing = refused(lambda: mo.load("no-such-file.mic"))
    assert str(pickle.loads(pickle.dumps(missing))) == str(missing)


def test_all_exceptions_are_of_one_family():
    for name in mo.__all__:
        if name.endswith("Error") or name == "FileNotFound":
            assert issubclass(getattr(mo, name), mo.MindError), name


def test_texts_that_are_no_unicode():
    with pytest.raises((UnicodeEncodeError, mo.MindError)):
        mo.parse("mic@2\n\udc80")
