"""The commands summarize and summarizer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from helpers.command_line import Finished, run

EXAMPLES = Path(__file__).parents[2] / "examples" / "compaction"
CTM = "talk 1 0.1 0.3 the 0.9\ntalk 1 0.5 0.4 harbour 0.8\ntalk 1 1.0 0.4 bridge 0.7\n"
CTM += "talk 1 1.5 0.2 is 0.9\ntalk 1 1.8 0.5 closed 0.6\n"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A folder with a transcript and its audio."""
    (tmp_path / "talk.ctm").write_text(CTM)
    samples = np.sin(np.arange(16_000 * 3) / 8)[:, None].astype(np.float32) / 4
    soundfile.write(tmp_path / "talk.wav", samples, 16_000)
    return tmp_path


def summarize(folder: Path, *arguments: str) -> Finished:
    return run("summarize", *arguments, "--quiet", folder=folder)


def test_a_summary_is_written_as_positions_text_sound_and_page(talk: Path) -> None:
    done = summarize(
        talk,
        *["talk.ctm", "--ratio", "0.6", "--weight", "I=3", "--recording", "talk.wav"],
        *["-o", "out.jsonl", "-o", "out.wav", "-o", "out.html"],
    )
    assert (done.returncode, done.stdout) == (0, "harbour bridge closed\n")
    assert "note: kept 3 of 5 words (60%)" in done.stderr
    assert "unknown words, perplexity" in done.stderr
    (output,) = map(json.loads, (talk / "out.jsonl").read_text().splitlines())
    assert output == {
        "item": "talk",
        "system": "compaction",
        "output": {"positions": [2, 3, 5]},
    }
    assert summarize(talk, "talk.ctm", "-o", "items.jsonl", "--write", "items").returncode == 0
    (item,) = map(json.loads, (talk / "items.jsonl").read_text().splitlines())
    assert item["words"][1] == ["harbour", 0.5, 0.9, 0.8]
    assert (talk / "out.wav").stat().st_size > 40_000
    assert "<mark" in (talk / "out.html").read_text()


def test_outputs_are_scored_on_the_items_that_were_summarized(tmp_path: Path) -> None:
    references = EXAMPLES / "english.jsonl"
    where = "--where", "half=tuning"
    outputs = tmp_path / "outputs.jsonl"
    done = run("summarize", references, *where, "-o", outputs, "-o", tmp_path / "out.txt")
    assert (done.returncode, done.stdout) == (0, "")
    assert len((tmp_path / "out.txt").read_text().splitlines()) == 36
    scored = run("score", outputs, references, *where, "--metric", "sumaccy", "--to", "json")
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["systems"]["compaction"]["sumaccy"]["n"] == 36


def test_japanese_is_summarized_without_spaces(tmp_path: Path) -> None:
    model = tmp_path / "japanese.arpa"
    text = EXAMPLES / "japanese.txt"
    done = run("summarizer", "train-lm", text, "--language", "ja", "-o", model)
    assert done.returncode == 0, done.stderr
    (tmp_path / "talk.txt").write_text("今日は大雨の影響で電車が遅れています", encoding="utf-8")
    options = f"talk.txt --language ja --language-model {model}".split()
    done = summarize(tmp_path, *options, "-o", "o.jsonl")
    assert done.returncode == 0, done.stderr
    summarize(tmp_path, *options, "-o", "items.jsonl", "--write", "items")
    item = json.loads((tmp_path / "items.jsonl").read_text(encoding="utf-8"))
    kept = json.loads((tmp_path / "o.jsonl").read_text())["output"]["positions"]
    assert "".join(item["words"][position - 1] for position in kept) == done.stdout.strip()


def test_a_grammar_is_estimated_and_used(tmp_path: Path) -> None:
    grammar = tmp_path / "grammar.json"
    done = run(
        "summarizer", "train-grammar", EXAMPLES / "treebank.conllu", "-o", grammar, "--quiet"
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "talk.txt").write_text("the city council voted late to close the old bridge")
    plain = summarize(tmp_path, "talk.txt")
    joined = summarize(tmp_path, "talk.txt", "--grammar", str(grammar), "--weight", "T=8")
    assert joined.returncode == 0, joined.stderr
    assert plain.stdout != joined.stdout


def test_weights_are_tuned_and_used(tmp_path: Path) -> None:
    weights = tmp_path / "weights.json"
    done = run(
        *f"summarizer tune {EXAMPLES}/english.jsonl --where kind=news".split(),
        *f"--language-model none -o {weights} --quiet".split(),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("weights: linguistic")
    assert "random words" in done.stdout
    (tmp_path / "talk.txt").write_text("the harbour bridge is closed")
    options = f"--language-model none --weight {weights} --weight I=2"
    used = summarize(tmp_path, "talk.txt", *options.split())
    assert used.returncode == 0, used.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("talk.ctm -o out.wav", "out.wav requires the audio — set --recording FILE"),
        ("talk.wav --recording talk.wav -o p.html", "--recording is for transcripts"),
        ("talk.ctm --ratio 0", "ratio must be above 0 and at most 1, got 0"),
        ("talk.ctm -o talk.ctm", "talk.ctm is named twice"),
        ("talk.ctm --recording talk.wav -o talk.wav", "talk.wav is named twice"),
        ("talk.ctm --weight a.json --weight b.json", "only one file can be set"),
        ("talk.ctm --weight X=1", 'unknown score "x"'),
        ("talk.ctm --language-model no.arpa", "no.arpa"),
        ("talk.ctm --where kind=news", "leave out --where"),
        ("empty.txt", "has no words"),
        ("talk.ctm --recording talk.wav", "--recording is for pages and audio files"),
        ("talk.ctm --recording talk.ctm -o p.html", "talk.ctm: cannot be read"),
        ("talk.ctm -o out.xyz", "out.xyz: unknown output format — use .jsonl, .txt, .html"),
        ("talk.ctm -o a.htm -o b.html", "a.htm and b.html would have the same content"),
        ("talk.ctm --write words", "--write is about JSON Lines"),
        ("talk.ctm --weight L=0 --weight I=0 --weight C=0", "all weights are 0"),
        ("talk.ctm --language english", 'unknown language "english"'),
        ("vosk.json", "unknown transcript format"),
        ("heard.jsonl --write positions -o o.jsonl", "use --write words"),
        ("heard.jsonl --recording talk.wav -o p.html", "--recording is that of a transcript"),
        ("talk.wav --language fr", "has an English model only"),
    ],
)
def test_wrong_uses_are_refused_before_anything_is_written(
    talk: Path, arguments: str, message: str
) -> None:
    (talk / "empty.txt").write_text("\n")
    (talk / "vosk.json").write_text('{"result": [{"conf": 1, "word": "rain"}], "text": "rain"}')
    heard = {"item": "a", "words": ["it", "rains"], "recognized": ["it", "reigns"]}
    (talk / "heard.jsonl").write_text(json.dumps(heard))
    before = {path.name for path in talk.iterdir()}
    done = summarize(talk, *arguments.split())
    assert done.returncode == 2
    assert message in done.stderr
    assert {path.name for path in talk.iterdir()} == before


def test_an_unknown_command_of_the_summarizer_is_refused() -> None:
    done = run("summarizer", "train")
    assert done.returncode == 2
    assert 'unknown command "train" — did you mean "train-lm"?' in done.stderr
