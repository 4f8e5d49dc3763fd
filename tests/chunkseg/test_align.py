"""Forced alignment in the drop-in: backends, sentences, transcripts and failures."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from earwitness import chunkseg
from earwitness.chunkseg import align
from earwitness.chunkseg.align import align_sentences, open_backend
from earwitness.cli.main import group
from earwitness.errors import EarwitnessWarning, MissingExtra, UsageError
from earwitness.speech import mms
from earwitness.speech.align import PocketsphinxAligner
from earwitness.speech.mms import MmsAligner
from helpers.clock_aligner import ClockAligner
from helpers.samples import write_lines

# one word per second from 0.25 s: "c" starts at 2.25 s
CSTART = "[CSTART] A [CEND] a b. [CSTART] B [CEND] c d."
TIMED = "[CSTART] 0:00:00 - A [CEND] a b. [CSTART] 0:00:30 - B [CEND] c d."


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ClockAligner:
    stub = ClockAligner()
    for module in ("align", "evaluate"):  # the package has a function evaluate, too
        place = importlib.import_module(f"earwitness.chunkseg.{module}")
        monkeypatch.setattr(place, "open_backend", lambda *_: stub)
    return stub


@pytest.fixture
def talk(tmp_path: Path) -> str:
    (tmp_path / "talk.wav").write_bytes(b"")
    (tmp_path / "other.wav").write_bytes(b"")
    return str(tmp_path / "talk.wav")


def sample(audio: str, text: str = CSTART, **fields: Any) -> dict[str, Any]:
    """Return a sample whose chapter B starts at 2.25 s."""
    return {"hypothesis": text, "reference": [2.25], "duration": 60.0, "audio": audio, **fields}


# --- Backends ------------------------------------------------------------------------------------


def lack_weights() -> mms.Emissions:
    raise UsageError("model.pt: file does not exist")


def lack_library() -> mms.Emissions:
    raise MissingExtra("torchaudio", "mms", "the aligner mms_fa")


@pytest.mark.parametrize(
    ("load", "reason"), [(lack_weights, "file does not exist"), (lack_library, "needs torchaudio")]
)
def test_english_is_aligned_by_pocketsphinx_if_mms_cannot_be_used(
    load: Any, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    align._open_loaded_mms.cache_clear()
    monkeypatch.setattr(mms, "load_mms", load)
    with pytest.warns(EarwitnessWarning, match=f"aligned by pocketsphinx, since mms_fa .*{reason}"):
        assert isinstance(open_backend("mms_fa", "eng"), PocketsphinxAligner)
    assert isinstance(open_backend("pocketsphinx", "eng"), PocketsphinxAligner)
    assert isinstance(open_backend("mms_fa", "deu"), MmsAligner)


def test_the_model_of_mms_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    align._open_loaded_mms.cache_clear()
    loaded = []
    monkeypatch.setattr(mms, "load_mms", lambda: loaded.append(1))
    assert open_backend("mms_fa", "eng") is open_backend("mms_fa", "eng")
    assert loaded == [1]
    align._open_loaded_mms.cache_clear()


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("alqalign", "alqalign is not supported — use mms_fa or pocketsphinx"),
        ("mms", 'unknown fa_backend "mms" — known: mms_fa, pocketsphinx'),
    ],
)
def test_other_backends_are_refused_when_they_are_needed(
    backend: str, message: str, talk: str
) -> None:
    assert chunkseg.evaluate([10], [12], 60, fa_backend=backend)["collar_f1"] == 1
    with pytest.raises(UsageError, match=message):
        chunkseg.evaluate(**sample(talk), format="cstart", fa_backend=backend)


# --- Sentences -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("clock")
def test_sentences_get_their_times_and_keep_other_keys(talk: str) -> None:
    sentences: list[dict[str, Any]] = [{"text": "a b.", "id": 7}, {"text": ""}, {"text": "c d."}]
    assert align_sentences(talk, sentences, "eng") == [
        {"text": "a b.", "id": 7, "start": 0.25, "end": 1.75},
        {"text": "", "start": 1.75, "end": 1.75},
        {"text": "c d.", "start": 2.25, "end": 3.75},
    ]
    assert align_sentences(talk, [], "eng") == []


@pytest.mark.usefixtures("clock")
def test_sentences_that_cannot_be_aligned_are_none_with_the_reason() -> None:
    with pytest.warns(EarwitnessWarning, match=r"cannot be aligned: none\.wav: does not exist"):
        assert align_sentences("none.wav", [{"text": "a"}], "eng") is None


# --- Samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("text", "options"),
    [
        (CSTART, {"format": "cstart"}),
        ("a b.\n\nc d.", {"format": "newline"}),
        ("# A\na b.\n# B\nc d.", {"format": "markdown"}),
        ("a b. == c d.", {"format": "custom", "custom_pattern": "=="}),
        (TIMED, {"format": "cstart_ts", "force_alignment": True}),
    ],
)
def test_transcripts_are_aligned_with_their_audio(
    text: str, options: dict[str, Any], exact: bool, talk: str, clock: ClockAligner
) -> None:
    found = chunkseg.evaluate(
        **sample(talk, text), **options, collar=0.0, src_lang="deu", exact=exact
    )
    assert (found["collar_f1"], found["num_segments"]) == (1, 1)
    assert clock.calls == [(Path(talk), ("a", "b.", "c", "d."), "deu")]


@pytest.mark.filterwarnings("ignore:BERTSCORE VALUES")
@pytest.mark.usefixtures("clock")
def test_titles_of_an_aligned_transcript_have_its_times(talk: str) -> None:
    titles = [("A", 0.0), ("B", 2.25)]
    for exact in (False, True):
        found = chunkseg.evaluate(
            **sample(talk), format="cstart", reference_titles=titles, tolerance=0.01, exact=exact
        )
        assert (found["tm_matched"], found["tm_rl_f1"]) == (1, 1)


@pytest.mark.usefixtures("clock")
def test_samples_that_cannot_be_aligned_are_reported_counted_and_left_out(
    talk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = talk.replace("talk", "other")
    titled: dict[str, Any] = {
        "reference_titles": [("A", 0.0)],
        "reference_transcript": "a b. c d. e",
    }
    samples = [sample(talk), sample(other, **titled)]
    with pytest.warns(
        EarwitnessWarning, match=r"sample 1: text cannot be aligned: .*not the audio.*\(left out\)"
    ) as caught:
        results = chunkseg.evaluate_batch(samples, format="cstart", collar=0.0, wer=True)
    assert len(caught) == 1
    assert (results["collar_f1"]["mean"], results.failed) == (1, 1)
    assert results["wer"]["mean"] == pytest.approx(1 / 5)  # needs no times
    assert results.to_json()["collar_f1"]["failed"] == 1
    chunkseg.print_results(results)
    assert capsys.readouterr().out.endswith("samples that could not be aligned: 1\n")
    with pytest.warns(EarwitnessWarning, match="sample 0: text cannot be aligned"):
        assert chunkseg.evaluate(**samples[1], format="cstart").keys() == {"wer"}


@pytest.mark.usefixtures("clock")
def test_exact_scores_samples_that_cannot_be_aligned_without_boundaries(talk: str) -> None:
    samples = [sample(talk), sample(talk.replace("talk", "other"))]
    with pytest.warns(EarwitnessWarning, match="scored without boundaries, as chunkseg does"):
        results = chunkseg.evaluate_batch(samples, format="cstart", collar=0.0, exact=True)
    assert results["collar_f1"]["mean"] == 0.5


def test_the_command_aligns_audio_next_to_its_input(talk: str, clock: ClockAligner) -> None:
    path = Path(talk).parent / "samples.jsonl"
    write_lines(path, [sample("talk.wav", TIMED), sample("none.wav", TIMED)])
    options = ["--format", "cstart_ts", "--force-alignment", "--src-lang", "deu", "--collar", "0"]
    results = path.with_name("results.json")
    done = CliRunner().invoke(group, ["chunkseg", str(path), *options, "--output", str(results)])
    assert done.exit_code == 0, done.output
    reason = "text cannot be aligned: none.wav: does not exist (left out)"
    assert f"Warning: sample 1: {reason}" in done.stderr
    assert json.loads(results.read_text())["collar_f1"]["mean"] == 1
    assert [(path, language) for path, _, language in clock.calls] == [(Path(talk), "deu")]
