"""SumACCY of the summarizer on the examples of compaction, and what each score adds.

The utterances and summaries in `examples/compaction` were written by the authors of Earwitness with
a language model, before any summarizer was run. Figures on them show that the summarizer works, not
how well it does on speech of others.

Weights are fitted to the tuning half alone (`summaries.methods.tune`), and results are those of the
test half. All summaries of an utterance have as many words as people keep on average. Intervals and
those of differences, which are paired by utterance, are 95 % of a bootstrap over utterances. What
follows was decided before a result on the test half was seen:

- Settings of the scores (the rule for topic words, what is counted for significance) are those that
  were best on the tuning half, where about 60 variants were compared; most differ by chance alone.
- Random words are drawn with 20 seeds, and their mean is compared.
- Bars: SumACCY of L + I minus that of random and of the first words, interval above 0.
- Two levels: the utterances of a kind (news, lecture, meeting) are one speech, with as many words
  in total as with one level. The weight of I is fitted to the tuning half, too.
- C: on words that pocketsphinx recognized from the speech of flite (`recognized.jsonl`), for which
  weights are fitted again. Random and first words are taken from the recognized words.
- T: of a grammar of `treebank.conllu` alone, and one that inside–outside estimates from it and from
  the words of the tuning half, the one with the higher cross-validated SumACCY on the tuning half.
  L + I + T has the same bars as L + I, since it is the better one there.
- Japanese: the language model is a Kneser–Ney trigram of `japanese.txt` and of the utterances of
  the tuning half. Weights are fitted with a model of `japanese.txt` alone, since a model of the
  tuning half knows its sentences. As twelve utterances are few, the same is done for all 24 by
  leaving two out at a time: models and weights come from the other 22 and `japanese.txt`. Both have
  the bars.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from earwitness.core import Case
from earwitness.summaries.methods.compaction import Floats, ScoreWeights, SpokenUtterance
from earwitness.summaries.methods.grammar_estimation import estimate_grammar
from earwitness.summaries.methods.language_models import ArpaModel, train_language_model
from earwitness.summaries.methods.search import allocate_words, search_summaries
from earwitness.summaries.methods.summarize import SCORE_LETTERS, SummarizerModels, open_models
from earwitness.summaries.methods.treebank import count_treebank, read_conllu
from earwitness.summaries.methods.tune import (
    WEIGHT_GRID,
    Positions,
    ReferencedSpeech,
    estimate_mean,
    fit_weights,
    read_references,
    score_references,
    tune_weights,
)
from earwitness.summaries.positions import word_accuracy
from earwitness.text.ngrams import read_arpa, write_arpa
from earwitness.text.words import split_japanese

EXAMPLES = Path(__file__).parents[1] / "examples" / "compaction"
RANDOM_SEEDS = 20
BOOTSTRAP_DRAWS = 10_000
LEFT_OUT = 2  # Japanese utterances that are left out at a time
BY_AUTHORS = "written by the authors"


# --- Data ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """Utterances with references, and the kind of each."""

    utterances: tuple[SpokenUtterance, ...]
    cases: tuple[Case, ...]
    kinds: tuple[str, ...]

    def take(self, rows: Sequence[int]) -> Examples:
        """Return some of the utterances."""
        return Examples(
            tuple(self.utterances[row] for row in rows),
            tuple(self.cases[row] for row in rows),
            tuple(self.kinds[row] for row in rows),
        )

    def join(self, other: Examples) -> Examples:
        """Return the utterances of both."""
        return Examples(
            self.utterances + other.utterances, self.cases + other.cases, self.kinds + other.kinds
        )

    def score(self, models: SummarizerModels) -> ReferencedSpeech:
        """Return the utterances with scores, as one speech."""
        return score_references(self.utterances, self.cases, models)

    @property
    def words(self) -> list[tuple[str, ...]]:
        """Words of every utterance."""
        return [one.words for one in self.utterances]


def read_examples(name: str, most: int | None = None) -> tuple[Examples, Examples]:
    """Return the tuning half and the test half of a file, at most some utterances of each."""
    path = EXAMPLES / name
    metas = [json.loads(line)["meta"] for line in path.read_text(encoding="utf-8").splitlines()]
    every = Examples(*read_references(path), tuple(meta["kind"] for meta in metas))
    tuning, test = (
        every.take([row for row, meta in enumerate(metas) if meta["half"] == half][:most])
        for half in ("tuning", "test")
    )
    return tuning, test


# --- Figures -------------------------------------------------------------------------------------


def measure_random(speech: ReferencedSpeech) -> Floats:
    """Return the mean SumACCY of random words over all seeds, by utterance."""
    drawn = [speech.measure(speech.draw_words(seed)) for seed in range(RANDOM_SEEDS)]
    return np.asarray(np.mean(drawn, axis=0))


def measure_people(speech: ReferencedSpeech) -> Floats:
    """Return the mean SumACCY of the summaries of people against the others, by utterance."""
    found = []
    for left_out in range(min(len(case.references) for case in speech.cases)):
        cases, kept = list[Case](), list[Positions]()
        for case in speech.cases:
            people = case.references
            cases.append(replace(case, references=people[:left_out] + people[left_out + 1 :]))
            kept.append(people[left_out].positions)
        others = replace(speech, cases=tuple(cases))
        found.append(others.measure(kept))
    return np.asarray(np.mean(found, axis=0))


def print_accuracies(title: str, found: Mapping[str, Floats], items: Sequence[str]) -> None:
    """Print the SumACCY of every method with its interval."""
    print(f"{title}, {len(items)} utterances, {BY_AUTHORS}:")
    for name, values in found.items():
        one = estimate_mean(values, items, draws=BOOTSTRAP_DRAWS)
        print(f"  {name}: SumACCY {one.value:.3f} [{one.low:.3f} to {one.high:.3f}]")


def print_gain(what: str, gains: Floats, items: Sequence[str], *, bar: bool = False) -> None:
    """Print a paired difference with its interval, and whether the interval is above 0."""
    one = estimate_mean(gains, items, draws=BOOTSTRAP_DRAWS)
    figure = f"{one.value:+.3f} [{one.low:+.3f} to {one.high:+.3f}]"
    if bar:
        figure += f" (bar above 0: {'met' if one.low > 0 else 'missed'})"
    print(f"  {what} ({BY_AUTHORS}): n = {len(items)}, {figure}")


def show_weights(weights: ScoreWeights) -> str:
    """Return weights by the letters of the scores."""
    pairs = ((letter, getattr(weights, name)) for letter, name in SCORE_LETTERS.items())
    return " ".join(f"{letter}={value:g}" for letter, value in pairs if value)


def name_scores(letters: str) -> list[str]:
    """Return the names of scores by their letters."""
    return [SCORE_LETTERS[letter] for letter in letters]


def measure_alone(speech: ReferencedSpeech) -> dict[str, Floats]:
    """Return the SumACCY of everything that has no fitted weights."""
    return {
        "random words": measure_random(speech),
        "first words": speech.measure(speech.first_words()),
        "L": speech.measure_weights([ScoreWeights(1, 0, 0, 0)])[0],
        "I": speech.measure_weights([ScoreWeights(0, 1, 0, 0)])[0],
    }


# --- English -------------------------------------------------------------------------------------


def summarize_kinds(
    speech: ReferencedSpeech, kinds: Sequence[str], weights: ScoreWeights
) -> list[Positions]:
    """Return summaries with two levels: the utterances of a kind share their words."""
    kept: list[Positions] = [()] * len(kinds)
    for kind in dict.fromkeys(kinds):
        rows = [row for row, own in enumerate(kinds) if own == kind]
        searches = [search_summaries(speech.tables[row], weights) for row in rows]
        counts = allocate_words(searches, sum(speech.counts[row] for row in rows))
        for row, search, count in zip(rows, searches, counts, strict=True):
            kept[row] = search.positions(count)
    return kept


def fit_kinds(speech: ReferencedSpeech, kinds: Sequence[str]) -> ScoreWeights:
    """Return the weights with the highest SumACCY of two levels."""
    grid = [ScoreWeights(1, number, 0, 0) for number in WEIGHT_GRID]
    means = [speech.measure(summarize_kinds(speech, kinds, one)).mean() for one in grid]
    return grid[int(np.argmax(means))]


def report_transcripts(tuning: Examples, test: Examples, models: SummarizerModels) -> None:
    """Print L, I, L + I, and two levels, on transcripts."""
    fitted_to, speech = tuning.score(models), test.score(models)
    weights = fit_weights(fitted_to, name_scores("LI"))
    shared = fit_kinds(fitted_to, tuning.kinds)
    kept = summarize_kinds(speech, test.kinds, shared)
    found = measure_alone(speech)
    found[both := f"L + I ({show_weights(weights)})"] = speech.measure_weights([weights])[0]
    found[levels := f"L + I, two levels ({show_weights(shared)})"] = speech.measure(kept)
    found["people, each against the others"] = measure_people(speech)
    print_accuracies("English transcripts, test half", found, speech.items)
    for name in ("random words", "first words"):
        gain = found[both] - found[name]
        print_gain(f"English, L + I minus {name}", gain, speech.items, bar=True)
    for name in ("L", "I"):
        print_gain(f"English, L + I minus {name}", found[both] - found[name], speech.items)
    print_gain("English, two levels minus one", found[levels] - found[both], speech.items)
    empty = sum(not one for one in kept)
    print(f"  two levels leave out {empty} of {len(kept)} utterances, which have SumACCY 0")


def report_confidence(models: SummarizerModels, most: int | None) -> None:
    """Print L + I with and without C, on recognized words."""
    tuning, test = read_examples("recognized.jsonl", most)
    fitted_to, speech = tuning.score(models), test.score(models)
    accuracy = np.mean(
        [word_accuracy(one.item.recognized or (), len(one.item.words)) for one in test.cases]
    )
    found = measure_alone(speech)
    names = dict[str, str]()
    for letters in ("LI", "LIC"):
        weights = fit_weights(fitted_to, name_scores(letters))
        names[letters] = f"{' + '.join(letters)} ({show_weights(weights)})"
        found[names[letters]] = speech.measure_weights([weights])[0]
    title = f"English recognized words (word accuracy {accuracy:.3f}), test half"
    print_accuracies(title, found, speech.items)
    for name in ("random words", "first words"):
        gain = found[names["LI"]] - found[name]
        print_gain(f"Recognized words, L + I minus {name}", gain, speech.items)
    gain = found[names["LIC"]] - found[names["LI"]]
    print_gain("Recognized words, L + I + C minus L + I", gain, speech.items)


def report_concatenation(tuning: Examples, test: Examples, models: SummarizerModels) -> None:
    """Print L + I with and without T, of the grammar that is chosen on the tuning half."""
    counted = count_treebank(read_conllu(EXAMPLES / "treebank.conllu"))
    grammars = {
        "treebank": counted,
        "treebank and text": estimate_grammar(tuning.words, start=counted, weight=1.0),
    }
    print("Grammars for T, cross-validated SumACCY on the tuning half:")
    accuracies = dict[str, float]()
    for name, grammar in grammars.items():
        own = replace(models, dependencies=grammar)
        tuned = tune_weights(tuning.utterances, tuning.cases, own)
        accuracies[name] = tuned.accuracy.value
        print(f"  {name}: {tuned.accuracy.value:.3f}, weights {show_weights(tuned.weights)}")
    chosen = max(accuracies, key=accuracies.__getitem__)
    own = replace(models, dependencies=grammars[chosen])
    fitted_to, speech = tuning.score(own), test.score(own)
    found = {"random words": measure_random(speech)}
    found["first words"] = speech.measure(speech.first_words())
    names = dict[str, str]()
    for letters in ("LI", "LIT"):
        weights = fit_weights(fitted_to, name_scores(letters))
        names[letters] = f"{' + '.join(letters)} ({show_weights(weights)})"
        found[names[letters]] = speech.measure_weights([weights])[0]
    print_accuracies(f"English transcripts with T ({chosen}), test half", found, speech.items)
    joined = found[names["LIT"]]
    for name in ("random words", "first words"):
        gain = joined - found[name]
        print_gain(f"English, L + I + T minus {name}", gain, speech.items, bar=True)
    print_gain("English, L + I + T minus L + I", joined - found[names["LI"]], speech.items)


# --- Japanese ------------------------------------------------------------------------------------


def make_japanese_models(sentences: Sequence[Sequence[str]]) -> SummarizerModels:
    """Return models with a trigram of sentences, and Japanese word frequencies."""
    trained = train_language_model([" ".join(words) for words in sentences])
    return SummarizerModels(ArpaModel(read_arpa(write_arpa(trained)), "kneser-ney"), language="ja")


def hold_out(
    train: Examples, held_out: Examples, corpus: Sequence[Sequence[str]]
) -> tuple[ReferencedSpeech, ScoreWeights]:
    """Return held-out utterances with scores, and weights, both from other utterances."""
    weights = fit_weights(train.score(make_japanese_models(corpus)), name_scores("LI"))
    return held_out.score(make_japanese_models([*corpus, *train.words])), weights


def report_japanese(most: int | None) -> None:
    """Print L + I on the test half, and on all utterances with two left out at a time."""
    lines = (EXAMPLES / "japanese.txt").read_text(encoding="utf-8").splitlines()
    corpus = [split_japanese(line) for line in lines if line and not line.startswith("#")]
    tuning, test = read_examples("japanese.jsonl", most)
    speech, weights = hold_out(tuning, test, corpus)
    found = measure_alone(speech)
    found[both := f"L + I ({show_weights(weights)})"] = speech.measure_weights([weights])[0]
    found["people, each against the others"] = measure_people(speech)
    print_accuracies("Japanese, test half", found, speech.items)
    for name in ("random words", "first words"):
        gain = found[both] - found[name]
        print_gain(f"Japanese test half, L + I minus {name}", gain, speech.items, bar=True)

    every = tuning.join(test)
    size = len(every.cases)
    parts, items = list[dict[str, Floats]](), list[str]()
    for first in range(size // LEFT_OUT):
        inside = range(first, size, size // LEFT_OUT)  # one of each half
        rest = [row for row in range(size) if row not in inside]
        speech, weights = hold_out(every.take(rest), every.take(inside), corpus)
        part = measure_alone(speech)
        part["L + I"] = speech.measure_weights([weights])[0]
        part["people, each against the others"] = measure_people(speech)
        parts.append(part)
        items += speech.items
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    print_accuracies("Japanese, all utterances, two left out at a time", found, items)
    for name in ("random words", "first words"):
        gain = found["L + I"] - found[name]
        print_gain(f"Japanese cross-validated, L + I minus {name}", gain, items, bar=True)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="six utterances of each half")
    most = 6 if parser.parse_args().quick else None
    models, _ = open_models()
    tuning, test = read_examples("english.jsonl", most)
    report_transcripts(tuning, test, models)
    report_confidence(models, most)
    report_concatenation(tuning, test, models)
    report_japanese(most)


if __name__ == "__main__":
    main()
