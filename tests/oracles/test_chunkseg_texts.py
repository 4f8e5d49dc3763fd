"""The drop-in and chunkseg itself on the same texts."""

from __future__ import annotations

import importlib.metadata
import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

import bert_score
import chunkseg
import numpy as np
import pytest

from earwitness import chunkseg as ours
from earwitness.models.text_encoder import find_encoder
from earwitness.speech.mms import WEIGHTS_VARIABLE
from helpers.command_line import run
from helpers.flite import read_lecture, speak_chapters, write_speech
from helpers.samples import many, write_lines

SENTENCE = "rain sun wind background text clip introduction methods results running skies"
WORDS = SENTENCE.split()
QUIET = pytest.mark.filterwarnings("ignore:BERTSCORE VALUES", "ignore::DeprecationWarning")
pytestmark = [pytest.mark.peer, QUIET]


@pytest.fixture(scope="module")
def scorer() -> Any:
    """The scorer of bert-score with the model that is here."""
    folder = str(find_encoder("minilm").folder)
    return bert_score.BERTScorer(model_type=folder, num_layers=6, device="cpu")


@pytest.fixture(autouse=True)
def same_model(scorer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """chunkseg with this model, one pair at a time: padding changes its numbers."""
    whole = scorer.score
    monkeypatch.setattr(scorer, "score", lambda c, r: whole(c, r, batch_size=1))
    monkeypatch.setattr("chunkseg.titles._get_bert_scorer", lambda *_: scorer)
    monkeypatch.setattr("chunkseg.parsers.sent_tokenize", lambda text: [text])


def titles(rng: random.Random, most: int) -> list[tuple[str, float]]:
    times = sorted(float(rng.randint(1, 300)) for _ in range(rng.randint(1, most)))
    return [(" ".join(rng.choices(WORDS, k=rng.randint(1, 4))), t) for t in times]


def test_title_scores_are_chunksegs() -> None:
    rng = random.Random(1)
    for _ in range(many(2, 60)):
        theirs, reference = titles(rng, 6), titles(rng, 6)
        moved = [(t, s + rng.choice([0.0, 2.0, -4.0])) for t, s in reference]
        for hypothesis in (theirs, moved):
            want = chunkseg.compute_title_scores(hypothesis, reference, 310.0, tolerance=5.0)
            found = ours.compute_title_scores(hypothesis, reference, 310.0, tolerance=5.0)
            assert list(found) == list(want)
            for key, value in want.items():
                assert found[key] == pytest.approx(value, abs=1e-5), key


def samples(rng: random.Random, count: int) -> list[dict[str, Any]]:
    found = []
    for _ in range(count):
        times = sorted(rng.sample(range(7, 290), rng.randint(1, 5)))
        parts = [
            f"[CSTART] 0:{t // 60:02}:{t % 60:02} - {rng.choice(WORDS)} [CEND] "
            f"{' '.join(rng.choices(WORDS, k=8))} "
            for t in [0, *times]
        ]
        found.append(
            {
                "hypothesis": "".join(parts),
                "reference": [float(t + rng.choice([0, 2, 20])) for t in times],
                "duration": 300.0,
                "reference_titles": titles(rng, 4),
                "reference_transcript": " ".join(rng.choices(WORDS, k=30)),
            }
        )
    return found


def test_transcripts_with_titles_and_words_are_chunksegs_sample_by_sample() -> None:
    for sample in samples(random.Random(2), many(4, 40)):
        want = chunkseg.evaluate(**sample, format="cstart_ts")
        found = ours.evaluate(**sample, format="cstart_ts")
        want = {key: value for key, value in want.items() if not key.startswith("_")}
        assert list(found) == list(want)
        for key, value in want.items():
            assert found[key] == pytest.approx(value, abs=1e-5), key


def test_a_batch_under_a_seed_is_chunksegs() -> None:
    made = samples(random.Random(3), many(6, 12))
    np.random.seed(1)  # noqa: NPY002 — what chunkseg draws from
    want = chunkseg.evaluate_batch(made, format="cstart_ts", titles=True, wer=True)
    np.random.seed(1)  # noqa: NPY002
    found = ours.evaluate_batch(made, format="cstart_ts", titles=True, wer=True)
    assert list(found) == list(want)
    for key, value in want.items():
        if key != "wer":  # chunkseg divides by the wrong number of words
            assert found[key] == pytest.approx(value, abs=1e-5), key


README = str(importlib.metadata.metadata("chunkseg").json["description"])


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_python_in_chunksegs_readme_runs_with_the_import_changed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (block,) = blocks("python")
    names: dict[str, Any] = {}
    exec(block.replace("from chunkseg import", "from earwitness.chunkseg import"), names)
    assert names["result"]["tm_matched"] == pytest.approx(2 / 3)
    assert {"tm_bs_f1", "tm_rl_f1", "gc_bs_f1", "gc_rl_f1", "tm_matched"} <= names["scores"].keys()
    assert "collar_f1" in capsys.readouterr().out


class Lecture(NamedTuple):
    """Speech of two chapters: its file, its text in chunkseg's formats, and its true boundary."""

    audio: Path
    duration: float
    boundary: float
    cstart: str
    cstart_ts: str


@pytest.fixture(scope="module")
def lecture(tmp_path_factory: pytest.TempPathFactory) -> Lecture:
    """Return half a minute of speech; times in the text are wrong."""
    chapters = [sentences[:4] for sentences in read_lecture()[:2]]
    speech, path = speak_chapters(chapters), tmp_path_factory.mktemp("speech") / "audio.wav"
    write_speech(path, speech)
    intro, main = (" ".join(sentences) for sentences in chapters)
    return Lecture(
        path,
        speech.seconds,
        speech.words[speech.chapters[1]].start,
        f"[CSTART] Intro [CEND] {intro} [CSTART] Main [CEND] {main}",
        f"[CSTART] 0:00:00 - Intro [CEND] {intro} [CSTART] 0:00:01 - Main [CEND] {main}",
    )


def test_lines_in_chunksegs_readme_run_with_the_command_changed(
    tmp_path: Path, lecture: Lecture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path / "none.pt"))
    examples = [json.loads(block) for block in blocks("json")]
    timed = [one for one in examples if not isinstance(one["hypothesis"], str)]
    (spoken,) = (one for one in examples if isinstance(one["hypothesis"], str))
    assert spoken.keys() == {"hypothesis", "reference", "audio", "duration"}
    assert spoken["hypothesis"].startswith("[CSTART] Intro [CEND] ")
    spoken |= {"audio": str(lecture.audio), "duration": lecture.duration}
    spoken["reference"] = [lecture.boundary]
    write_lines(tmp_path / "samples.jsonl", timed)
    commands = [line for block in blocks("bash") for line in block.splitlines()]
    commands = [line for line in commands if line.startswith("chunkseg ")]
    assert len(commands) >= 5
    assert any("--format cstart " in line for line in commands)
    for line in commands:
        is_aligned = "--format cstart " in line
        text = lecture.cstart if is_aligned else lecture.cstart_ts
        write_lines(tmp_path / "transcripts.jsonl", [{**spoken, "hypothesis": text}])
        tight = ["--collar", "0.5"] * is_aligned
        done = run(*line.split(), *tight, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        if is_aligned:
            assert "text is aligned by pocketsphinx, since mms_fa cannot be used" in done.stderr
            assert "collar_f1: 100.0 ± 0.0\n" in done.stdout
    assert "tm_rl_f1" in json.loads((tmp_path / "results.json").read_text())


def test_modes_with_audio_in_chunksegs_readme_run(lecture: Lecture) -> None:
    assert '`format="cstart_ts"`, `force_alignment=True`' in README
    for text, options in (
        (lecture.cstart, {"format": "cstart"}),
        (lecture.cstart_ts, {"format": "cstart_ts", "force_alignment": True}),
    ):
        found = ours.evaluate(
            text,
            [lecture.boundary],
            lecture.duration,
            audio=str(lecture.audio),
            fa_backend="pocketsphinx",
            collar=0.5,
            **options,
        )
        assert found["collar_f1"] == 1
