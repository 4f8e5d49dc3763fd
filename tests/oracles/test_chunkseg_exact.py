"""The drop-in with exact=True and chunkseg 0.4.0, also where chunkseg is wrong."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any

import chunkseg
import numpy as np
import pytest

from earwitness import chunkseg as ours
from earwitness.errors import EarwitnessWarning, UsageError
from helpers.samples import Sample, many, nasty

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore:BERTSCORE VALUES", "ignore::DeprecationWarning"),
]
MODULES = ("align", "core", "display", "evaluate", "metrics", "parsers", "titles")
SENTENCE = "rain sun wind text clip methods results [noise] it's Re: #5 @ 3:00"
WORDS = SENTENCE.split()


def both(name: str) -> tuple[Any, Any]:
    """A module of the drop-in, and that of chunkseg."""
    return import_module(f"earwitness.chunkseg.{name}"), import_module(f"chunkseg.{name}")


class ZeroScorer:
    """A scorer that finds no likeness, in place of a large model."""

    def score(self, output: list[str], reference: list[str]) -> list[np.ndarray[Any, Any]]:
        assert len(output) == len(reference)
        return [np.zeros(len(output))] * 3


@pytest.fixture(autouse=True)
def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkseg.titles._get_bert_scorer", lambda *_: ZeroScorer())
    monkeypatch.setattr("chunkseg.parsers.sent_tokenize", lambda text: [" ".join(text.split())])
    monkeypatch.setattr(
        "earwitness.chapters.text_metrics.bertscore", lambda out, *_: np.zeros((len(out), 3))
    )
    monkeypatch.setattr(
        "earwitness.chunkseg.parsers.split_sentences",
        lambda text: [" ".join(text.split())] if text else [],
    )


def same(found: dict[str, Any], want: dict[str, Any]) -> None:
    assert list(found) == list(want)
    for key, value in want.items():
        assert found[key] == pytest.approx(value, abs=1e-9), key


def chunksegs(sample: dict[str, Any], **options: Any) -> dict[str, float] | None:
    """The values of chunkseg, or None if it fails."""
    try:
        return dict(chunkseg.evaluate(**sample, **options))
    except AssertionError:
        return None


# --- Boundaries ----------------------------------------------------------------------------------


def test_boundaries_of_fuzzed_samples_are_equal() -> None:
    rng = random.Random(1)
    for _ in range(many(250, 3000)):
        size = rng.choice([0.5, 1.0, 6.0, rng.uniform(0.1, 30)])
        sample = nasty(rng, size, rng.choice([1, 1, 2, 3, 5, 10, 40]))
        collar = rng.choice([0.0, 3.0, rng.uniform(0, 10)])
        options: dict[str, Any] = {"chunk_size": size, "collar": collar}
        same(ours.evaluate(**sample, **options, exact=True), chunkseg.evaluate(**sample, **options))


@pytest.mark.parametrize("chunks", [1020, 1021, 1022, 1023, 1024, 1026, 1030])
@pytest.mark.parametrize("output", [500.0, 700.0])
def test_windows_around_256_chunks_fail_or_are_1_where_they_do_in_chunkseg(
    chunks: int, output: float
) -> None:
    sample: Sample = {"hypothesis": [output], "reference": [500.0], "duration": float(chunks)}
    want = chunksegs(dict(sample), chunk_size=1.0)
    if want is None:
        with pytest.raises(UsageError, match="chunkseg fails with windows of 256 chunks or more"):
            ours.evaluate(**sample, chunk_size=1.0, exact=True)
    else:
        same(ours.evaluate(**sample, chunk_size=1.0, exact=True), want)


def test_single_samples_have_the_values_of_a_batch() -> None:
    rng = random.Random(2)
    for _ in range(many(150, 2000)):
        sample = nasty(rng, 6.0, rng.choice([1, 2, 5, 30, 400]))
        alone = ours.evaluate(**sample)
        with_arrays = ours.evaluate_batch([sample, sample], num_bootstrap=1) if alone else {}
        for key in alone:
            assert alone[key] == pytest.approx(with_arrays[key]["mean"], abs=1e-12), (key, sample)


# --- Transcripts ---------------------------------------------------------------------------------


def heading(rng: random.Random, form: str, time: int) -> str:
    clock = f"{time // 3600}:{time // 60 % 60:02}:{time % 60:02}"
    title = " ".join(rng.choices(WORDS, k=rng.randint(1, 3)))
    if rng.random() < 0.2:  # headings that cannot be read
        clock = rng.choice(["", f"{time}", f"{time // 60:02}:{time % 60:02}", "1:2"])
    if form == "cstart_ts":
        return f"[CSTART] {clock} {rng.choice('--–')} {title} [CEND] "
    if form == "custom_ts":
        return f"<{clock}|{title}> "
    marks = "#" * rng.randint(1, 3)
    texts = f"{clock} - {title}", f"{clock} {title}", f"{title} @ {clock}"
    return f"\n{marks} {rng.choice(texts)}\n"


def transcript(rng: random.Random, form: str) -> str:
    times = sorted(rng.sample(range(1, 290), rng.randint(1, 5)))
    times = [0, *times] if rng.random() < 0.6 else times
    return " ".join(
        heading(rng, form, time) + " ".join(rng.choices(WORDS, k=rng.randint(0, 8)))
        for time in times
    )


@pytest.mark.parametrize("form", ["cstart_ts", "markdown_ts", "custom_ts"])
def test_fuzzed_transcripts_with_titles_and_words_are_equal(form: str) -> None:
    rng = random.Random(form)
    options: dict[str, Any] = {"format": form}
    if form == "custom_ts":
        options["custom_pattern"] = r"<(?P<timestamp>[^|>]*)\|(?P<title>[^>]*)>"
    samples = []
    for _ in range(many(50, 700)):
        sample: dict[str, Any] = {
            "hypothesis": transcript(rng, form),
            "reference": [float(t) for t in sorted(rng.sample(range(1, 290), 3))],
            "duration": 300.0,
            "reference_transcript": " ".join(rng.choices(WORDS, k=rng.randint(0, 9))),
            "reference_titles": [(rng.choice(WORDS), float(rng.randint(0, 290)))],
        }
        try:
            want = chunkseg.evaluate(**sample, **options)
        except ValueError as error:  # no times at all
            with pytest.raises(UsageError, match=str(error)[:40]):
                ours.evaluate(**sample, **options, exact=True)
            continue
        same(ours.evaluate(**sample, **options, exact=True), want)
        samples.append(sample)
    assert len(samples) > 30
    np.random.seed(1)  # noqa: NPY002 — what chunkseg draws from
    want = chunkseg.evaluate_batch(samples, **options, wer=True, titles=True)
    np.random.seed(1)  # noqa: NPY002
    same(ours.evaluate_batch(samples, **options, wer=True, titles=True, exact=True), want)


@pytest.mark.parametrize("form", ["cstart", "markdown", "newline", "custom"])
def test_formats_without_times_are_parsed_alike(form: str) -> None:
    rng = random.Random(form)
    pattern = r"<[^>]*>" if form == "custom" else None
    kind = {"cstart": "cstart_ts", "markdown": "markdown_ts", "newline": "markdown_ts"}
    for _ in range(60):
        text = transcript(rng, kind.get(form, "custom_ts"))
        mine, theirs = (module.parse_transcript(text, form, pattern) for module in both("parsers"))
        assert mine == theirs


# --- Deviations without exact --------------------------------------------------------------------


TEXT = "[CSTART] 0:00:05 - A [CEND] a b [CSTART] 0:00:30 - B [CEND] c"


def test_words_of_a_batch_are_divided_by_words_and_not_by_words_and_insertions() -> None:
    sample = {"hypothesis": "# 0:00 A\na b c d", "reference": [30.0], "duration": 60.0}
    sample |= {"format": "markdown_ts", "reference_transcript": "a b"}
    empty = {**sample, "hypothesis": "# 0:00 A\n"}
    for samples, right, theirs in (([sample], 2 / 2, 2 / 4), ([sample, empty], 4 / 4, 2 / 4)):
        assert ours.evaluate_batch(samples, wer=True)["wer"]["mean"] == right
        assert chunkseg.evaluate_batch(samples, wer=True)["wer"]["mean"] == theirs
        assert ours.evaluate_batch(samples, wer=True, exact=True)["wer"]["mean"] == theirs


def test_titles_keep_their_times_and_are_not_moved_if_the_first_is_not_at_0() -> None:
    sample: dict[str, Any] = {"hypothesis": TEXT, "reference": [30.0], "duration": 60.0}
    sample |= {"format": "cstart_ts", "reference_titles": [("A", 5.0), ("B", 30.0)]}
    sample |= {"tolerance": 2.0}
    assert ours.evaluate(**sample)["tm_matched"] == 1
    assert chunkseg.evaluate(**sample)["tm_matched"] == 0
    assert ours.evaluate(**sample, exact=True)["tm_matched"] == 0


def test_headings_without_a_time_are_no_words() -> None:
    sample: dict[str, Any] = {"hypothesis": "# 0:00 A\na b\n# Oh no\nc", "reference": [30.0]}
    sample |= {"duration": 60.0, "format": "markdown_ts", "reference_transcript": "a b c"}
    with pytest.warns(EarwitnessWarning, match='no time in the heading "Oh no"'):
        assert ours.evaluate(**sample)["wer"] == 0
    assert chunkseg.evaluate(**sample)["wer"] == 1  # "#", "oh" and "no" are inserted
    assert ours.evaluate(**sample, exact=True)["wer"] == 1


def test_headings_in_other_spellings_are_read() -> None:
    sample: dict[str, Any] = {"hypothesis": "# 0:00 A\na\n  # 0:30: B\nb", "reference": [30.0]}
    sample |= {"duration": 60.0, "format": "markdown_ts"}
    assert ours.evaluate(**sample)["collar_f1"] == 1
    assert chunkseg.evaluate(**sample)["collar_f1"] == 0
    assert ours.evaluate(**sample, exact=True)["collar_f1"] == 0


# --- Titles by start -----------------------------------------------------------------------------


def pairs_by_start(output: list[float], reference: list[float], tolerance: float) -> int:
    """Each reference title takes the nearest free title that starts within the tolerance."""
    free = dict(enumerate(output))
    for time in reference:
        near = [(abs(mine - time), place) for place, mine in free.items()]
        near = [pair for pair in near if pair[0] <= tolerance]
        if near:
            del free[min(near)[1]]
    return len(output) - len(free)


def test_titles_by_start_are_paired_as_in_0_3_4() -> None:
    rng = random.Random(3)
    for _ in range(60):
        sides = [
            sorted(float(rng.randint(0, 40)) for _ in range(rng.randint(1, 6))) for _ in range(2)
        ]
        output, reference = ([(rng.choice(WORDS), time) for time in side] for side in sides)
        want = pairs_by_start(sides[0], sides[1], 5.0) / len(reference)
        sample: dict[str, Any] = {"hypothesis": [9.0], "reference": [9.0], "duration": 60.0}
        sample |= {"hyp_titles": output, "reference_titles": reference}
        found = ours.evaluate(**sample, tm_rule="start", exact=rng.random() < 0.5)
        assert found["tm_matched"] == pytest.approx(want)
        batch = ours.evaluate_batch([sample], titles=True, tm_rule="start", num_bootstrap=1)
        assert batch["tm_matched"]["mean"] == pytest.approx(want)
        for scores in (
            ours.compute_title_scores(output, reference, tolerance=5.0),
            ours.compute_title_scores(output, reference, 60.0, tm_rule="start"),
        ):
            assert scores["tm_matched"] == pytest.approx(want)
    with pytest.raises(UsageError, match="tm_rule must be one of start, start_end, got 'end'"):
        ours.evaluate([], [], 60, hyp_titles=[("a", 0)], reference_titles=[("a", 0)], tm_rule="end")


# --- Modules -------------------------------------------------------------------------------------


def public(module: Any) -> dict[str, Any]:
    """Functions and classes that a module defines for others."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    }


def test_version_and_names_at_the_top_are_chunksegs() -> None:
    assert ours.__version__ == chunkseg.__version__ == "0.4.0"
    assert {*chunkseg.__all__} <= {*ours.__all__}


@pytest.mark.parametrize("name", MODULES)
def test_modules_have_chunksegs_functions_with_their_parameters(name: str) -> None:
    mine, theirs = both(name)
    functions = public(theirs)
    assert functions
    for function, value in functions.items():
        found = inspect.signature(getattr(mine, function)).parameters
        want = inspect.signature(value).parameters
        assert list(found)[: len(want)] == list(want) or name == "evaluate", function
        for parameter in want.values():
            if function != "compute_title_scores" or parameter.name != "duration":
                assert found[parameter.name].default == parameter.default, (function, parameter)


def test_functions_of_modules_return_chunksegs_values() -> None:
    rng = np.random.default_rng(4)
    metrics = both("metrics")
    for _ in range(60):
        sides = [rng.integers(0, 2, 30) * (rng.random(30) < 0.3) for _ in range(2)]
        same(*(module.compute_metrics(*sides) for module in metrics))
        for part in ("precision", "recall", "accuracy", "specificity"):
            mine, theirs = (getattr(module, f"binary_{part}")(*sides) for module in metrics)
            assert mine == theirs
    times = rng.uniform(-5, 60, 9).tolist()
    rows = [{"a": 0.5, "num_segments": 2}, {"a": 0.25}]
    found = []
    for module in metrics:
        np.random.seed(5)  # noqa: NPY002 — what chunkseg draws from
        numbers = [module.bootstrap_confidence_interval(times, f) for f in (np.mean, np.median)]
        numbers.append(module.f1_score_with_std_dev(0.5, 0.25, 0.1, 0.2))
        numbers += [tuple(one.values()) for one in module.aggregate_metrics(rows).values()]
        found.append([number for part in numbers for number in part])
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    chunks = [module.build_target_sequence(50.0, times, 6.0).tolist() for module in both("core")]
    assert chunks[0] == chunks[1]
    sentences = [{"start": 0.0}, {"start": 4.0}, {"start": 9.0}]
    for sections in ([["a"], ["b", "c"]], [["a", "b", "c"], ["d"]]):
        mine, theirs = (
            module.sections_to_boundary_timestamps(sentences, sections) for module in both("align")
        )
        assert mine == theirs
