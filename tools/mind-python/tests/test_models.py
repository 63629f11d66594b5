"""Models that generate text, and those that make vectors of it."""

import math

import mind_opt as mo
import pytest


def test_a_decoder_continues_texts_and_tokens(tiny):
    model = mo.Model(tiny / "tiny-qwen2", threads=1)
    assert model.kind == "decoder"
    assert model.generate("a cat dog", 12) == ". . . . it a dog . . . sat a"
    tokens = model.generate([1, 2, 3], 12)
    assert tokens == [15, 15, 15, 15, 12, 1, 3, 15, 15, 15, 4, 1]
    assert model.generate([1, 2, 3], 12, stop=[12]) == tokens[:4]
    assert model.generate([1, 2, 3], 12, stop=[0]) == tokens
    assert model.generate([1, 2, 3], 0) == []
    drawn = model.generate([1, 2, 3], 8, temperature=0.8, seed=7)
    assert drawn == model.generate([1, 2, 3], 8, temperature=0.8, seed=7)
    assert model.decode(model.encode("a cat")) == "a cat"


def test_an_encoder_decoder_draws_behind_what_it_reads(tiny):
    model = mo.Model(tiny / "tiny-t5", threads=1)
    assert model.kind == "encoder-decoder"
    assert model.generate("Cat dog sat", 4) == "a dog dog say"
    assert model.generate("Cat dog sat", 9, stop=[" say"]) == "a dog dog"
    tokens = model.generate([4, 7, 5, 1], 40, temperature=6)
    longer = model.generate([4, 7, 5, 1], 40, temperature=6, ignore_eos=True)
    assert tokens[-1] == 1 and len(longer) == 40 and longer[: len(tokens)] == tokens
    with pytest.raises(mo.ModelError, match="audio"):
        model.transcribe(b"")
    with pytest.raises(TypeError):
        model.generate([4], stop=[None])


def test_a_model_that_hears_writes_what_is_said(tiny):
    model = mo.Model(tiny / "tiny-whisper", threads=1)
    sound = (tiny / "tiny-whisper" / "sound.wav").read_bytes()
    assert model.transcribe(sound, count=10) == "sat sat the ran sat ran sat sat ran sat"
    assert model.transcribe(sound, language="de", count=4)
    for wrong in [{"language": "tlh"}, {"task": "sing"}]:
        with pytest.raises(mo.MindError):
            model.transcribe(sound, **wrong)
    with pytest.raises(mo.MindError):
        model.transcribe(sound[:20])


def test_an_encoder_makes_vectors(tiny):
    model = mo.Model(tiny / "tiny-bert", threads=1)
    assert model.kind == "encoder"
    numpy = pytest.importorskip("numpy")
    vectors = model.embed(["a cat", "a dog", "a cat"])
    assert vectors.dtype == "float32" and vectors.shape[0] == 3
    assert vectors[0].tobytes() == vectors[2].tobytes() != vectors[1].tobytes()
    assert all(math.isfinite(number) for number in vectors.ravel())
    assert model.embed([]).shape == (0, vectors.shape[1])


def test_wrong_uses_say_why(tiny, tmp_path):
    with pytest.raises(mo.MindError):
        mo.Model(tmp_path / "none")
    decoder = mo.Model(tiny / "tiny-qwen2", threads=1)
    with pytest.raises(mo.ModelError, match="does not encode texts"):
        decoder.embed(["a"])
    with pytest.raises(mo.ModelError):
        decoder.generate([1 << 20])
    with pytest.raises(mo.ModelError):
        decoder.generate([1], 10**9)
    with pytest.raises(mo.MindError):
        decoder.generate([])
    for wrong in [{"temperature": float("nan")}, {"top_p": 0}, {"repetition_penalty": -1}]:
        with pytest.raises(ValueError):
            decoder.generate([1], 1, **wrong)
    with pytest.raises(TypeError):
        decoder.generate(7)
    encoder = mo.Model(tiny / "tiny-bert", threads=1)
    with pytest.raises(mo.ModelError, match="does not generate tokens"):
        encoder.generate("a")
