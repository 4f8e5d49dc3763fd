"""Simulated manual summaries, systems and judgements, for experiments on the number of people.

The numbers describe the simulator, not people: it shows how an experiment is read, and whether a
method finds what was put in. Nothing here is estimated from data of people.

**Utterances** are invented sentences, made of phrases of two to five words. Every phrase has an
importance (normal, standard deviation 1), and a word of content is 0.3 more important than a word
of grammar. This sum is the popularity of a word.

**People** keep about ``ratio`` of the words: those with the largest sum of popularity, personal
taste for the phrase (standard deviation 0.3) and chance (0.1). Since importance and taste are
those of phrases, people mostly keep contiguous words. Isolated people have the opposite view of
importance: they like best what others like least.

**Recognition** replaces, drops and inserts words, in each item at its own rate. Systems choose
among the recognized words, with their times.

**Systems** keep ``ratio`` of the recognized words, by popularity with an error for each word. From
the first system to the last, popularity counts less, this error grows, and wrong words are first
avoided and then preferred, as by a system that takes rare words for important ones. With the
default sizes, systems have a SumACCY of about 0.4 to 0.7. The human system is the summary of the
first person.

**Judges** see a latent quality: the popularity of the kept words that are right, relative to the
best choice, and the share of neighbours that are neighbours in the utterance. A rating is this
quality on a scale of 1 to 5 plus the leniency of the judge, an effect of the item and chance,
rounded. No metric is part of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from earwitness.errors import UsageError
from earwitness.stats.arrays import Floats, Ints

# --- Settings of the model -----------------------------------------------------------------------


CONTENT_IMPORTANCE = 0.3
TASTE_SPREAD, CHOICE_SPREAD = 0.3, 0.1
LENGTH_SPREAD = 0.04  # of the ratio that a person keeps, between people and items
# of the first and of the last system: weight of popularity, and standard deviation of errors
POPULARITY_WEIGHTS, ERROR_SPREADS = (1.0, 0.2), (1.1, 1.8)
CAUTION = (1.0, -3.0)  # popularity that a wrong word loses; a rare word may look informative
RECOGNITION_ERRORS = (2.0, 16.0)  # parameters of the beta distribution of error rates of items
REPLACED_SHARE, DROPPED_SHARE = 0.7, 0.2  # of errors; the others insert a word
INFORMATION_WEIGHT, FLUENCY_WEIGHT = 0.75, 0.25
JUDGE_SPREAD, ITEM_SPREAD, RATING_SPREAD = 0.35, 0.3, 0.6
SECONDS_PER_LETTER, SECONDS_BETWEEN_WORDS = 0.06, 0.05
SIMULATED_FIELD = "simulated"  # field of meta that describes the simulation
Record = dict[str, Any]

# --- Words ---------------------------------------------------------------------------------------


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


ADJECTIVES = _listed(
    "early old narrow quiet northern public small heavy modern local wooden empty famous rural "
    "coastal broken silver steep busy young"
)
NOUNS = _listed(
    "harbour bridge council orchestra library ferry market storm school orchard museum railway "
    "valley fisherman bakery theatre river committee festival lighthouse factory garden teacher "
    "tunnel archive island workshop clinic tower meadow"
)
VERBS = _listed(
    "opened repaired closed welcomed flooded painted reached crossed delayed bought praised moved "
    "measured visited rebuilt warned joined replaced found sold"
)
ADVERBS = _listed("slowly again yesterday finally twice nearly together overnight quietly soon")
PLACES = _listed("Ardell Brenmoor Calver Dunwick Estley Farrow Glenby Harlow Istmere Jorvale")
PREPOSITIONS = _listed("near behind above across beside beyond through under")
CONJUNCTIONS = _listed("because while although after before since")
GRAMMAR = {"the", "one", "of", "in", "and", "for", "from", "to", *PREPOSITIONS, *CONJUNCTIONS}
PHRASES = (
    ("the", ADJECTIVES, NOUNS),
    ("of", PLACES),
    (ADVERBS, VERBS, "the", NOUNS),
    (PREPOSITIONS, "the", ADJECTIVES, NOUNS),
    (CONJUNCTIONS, "one", NOUNS, "in", PLACES),
    (VERBS, "the", ADJECTIVES, NOUNS),
    ("for", "the", NOUNS, "and", NOUNS),
    ("from", PLACES, "to", PLACES),
    (CONJUNCTIONS, "the", NOUNS, VERBS, ADVERBS),
)


# --- Simulated studies ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SimulatedReferences:
    """Records of a simulated study, in the formats of files.

    Attributes
    ----------
    outputs
        Lines of an outputs file; those of the human system have positions, others words.
    references
        Lines of a references file, with the transcript, the words of the recognizer, and the
        summaries of all people. ``meta.simulated`` describes the simulation.
    judgements
        Rows of a table of ratings: item, system, listener and score.
    human
        Name of the human system, which is that of a person.
    isolated
        Names of the isolated people.
    description
        How the records were made.
    """

    outputs: tuple[Record, ...]
    references: tuple[Record, ...]
    judgements: tuple[Record, ...]
    human: str
    isolated: tuple[str, ...]
    description: str


def simulate_references_study(
    *,
    items: int = 50,
    words: int = 30,
    ratio: float = 0.4,
    people: int = 25,
    systems: int = 9,
    judges: int = 10,
    isolated: int = 0,
    seed: int = 0,
) -> SimulatedReferences:
    """Simulate manual summaries, outputs of systems and judgements.

    The module describes the model.

    Parameters
    ----------
    items
        Number of utterances.
    words
        Mean number of words of an utterance.
    ratio
        Share of the words that a summary keeps.
    people
        Number of people who make a summary of every item.
    systems
        Number of automatic systems, from good to poor. The human system is added.
    judges
        Number of judges, who rate every summary of every system.
    isolated
        Number of isolated people among ``people``.
    seed
        Seed of the random numbers.

    Returns
    -------
    SimulatedReferences
        Outputs, references and judgements.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> study = simulate_references_study(items=2, people=3, systems=2, judges=2)
    >>> study.judgements[0]
    {'item': 'utterance-1', 'system': 'system-1', 'listener': 'judge-1', 'score': 3}
    >>> study.description.partition(";")[0]
    'simulated by Earwitness (seed 0'
    """
    sizes = {
        "items": items,
        "words": words,
        "people": people,
        "systems": systems,
        "judges": judges,
        "isolated": isolated,
    }
    _check_sizes(sizes, ratio, seed)
    names = _numbered("person", people)
    system_names = [*_numbered("system", systems), names[0]]
    judge_names = _numbered("judge", judges)
    description = _describe(sizes, seed)
    leniency = np.random.default_rng([seed, 1]).normal(0, JUDGE_SPREAD, judges)
    outputs, references, judgements = list[Any](), list[Any](), list[Any]()
    for number, item in enumerate(_numbered("utterance", items)):
        rng = np.random.default_rng([seed, 2, number])
        utterance = _draw_utterance(rng, words)
        summaries = list(_manual_summaries(rng, utterance, people, isolated, ratio))
        recognized = list(_recognize(rng, utterance))
        kept = [
            _summarize(rng, utterance, recognized, place / max(1, systems - 1), ratio)
            for place in range(systems)
        ]
        references.append(
            {
                "item": item,
                "words": [list(word) for word in utterance.timed_words],
                "recognized": [word.word for word in recognized],
                "references": [
                    {"annotator": name, "positions": positions}
                    for name, positions in zip(names, summaries, strict=True)
                ],
                "meta": {SIMULATED_FIELD: description},
            }
        )
        contents: list[Record] = [{"words": [list(word[:3]) for word in chosen]} for chosen in kept]
        contents.append({"positions": summaries[0]})
        outputs += [
            {"item": item, "system": name, "output": content}
            for name, content in zip(system_names, contents, strict=True)
        ]
        positions = [[word.position for word in chosen] for chosen in kept]
        item_effect = rng.normal(0, ITEM_SPREAD)
        for system, chosen in zip(system_names, [*positions, summaries[0]], strict=True):
            quality = 5 * _quality(utterance, chosen) + item_effect
            votes = quality + leniency + rng.normal(0, RATING_SPREAD, judges)
            scores = np.clip(np.rint(votes), 1, 5).astype(int).tolist()
            judgements += [
                {"item": item, "system": system, "listener": judge, "score": score}
                for judge, score in zip(judge_names, scores, strict=True)
            ]
    return SimulatedReferences(
        tuple(outputs),
        tuple(references),
        tuple(judgements),
        names[0],
        tuple(names[people - isolated :]),
        description,
    )


def _check_sizes(sizes: Mapping[str, int], ratio: float, seed: int) -> None:
    least = {"words": 5, "people": 2, "isolated": 0}
    for name, size in sizes.items():
        if size < (low := least.get(name, 1)):
            raise UsageError(f"{name} must be {low} or more, got {size}")
    people, isolated = sizes["people"], sizes["isolated"]
    if isolated >= people:
        raise UsageError(f"isolated must be fewer than people ({people}), got {isolated}")
    if not 0 < ratio < 1:
        raise UsageError(f"ratio must be between 0 and 1, such as 0.4, got {ratio}")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed}")


def _describe(sizes: Mapping[str, int], seed: int) -> str:
    isolated = sizes["isolated"]
    who = f"{sizes['people']} people" + (f" of whom {isolated} isolated" if isolated else "")
    rated = f"{sizes['systems']} systems and 1 human, {sizes['judges']} judges"
    return f"simulated by Earwitness (seed {seed}; {sizes['items']} items, {who}, {rated})"


def _numbered(name: str, count: int) -> list[str]:
    """Return names with numbers of equal width.

    >>> _numbered("judge", 10)[-2:]
    ['judge-09', 'judge-10']
    """
    return [f"{name}-{number:0{len(str(count))}}" for number in range(1, count + 1)]


# --- Utterances and people -----------------------------------------------------------------------


class Utterance(NamedTuple):
    """Words with times, the phrase of each word, and the popularity of each word."""

    timed_words: tuple[tuple[str, float, float], ...]
    phrase: Ints
    popularity: Floats


def _draw_utterance(rng: Generator, mean_words: int) -> Utterance:
    size = max(5, round(mean_words * rng.uniform(0.7, 1.3)))
    words, phrase = list[str](), list[int]()
    number = pattern_number = 0
    while len(words) < size:
        pattern = PHRASES[pattern_number % len(PHRASES)]
        pattern_number += int(rng.integers(1, 3))
        drawn = [slot if isinstance(slot, str) else str(rng.choice(slot)) for slot in pattern]
        words += drawn
        phrase += [number] * len(drawn)
        number += 1
    is_content = np.array([word not in GRAMMAR for word in words])
    importance = rng.normal(0, 1, number)[phrase] + CONTENT_IMPORTANCE * is_content
    timed, now = list[tuple[str, float, float]](), 0.0
    for word in words:
        end = now + SECONDS_PER_LETTER * (len(word) + 1)
        timed.append((word, round(now, 2), round(end, 2)))
        now = end + SECONDS_BETWEEN_WORDS
    return Utterance(tuple(timed), np.array(phrase), importance)


def _manual_summaries(
    rng: Generator, utterance: Utterance, people: int, isolated: int, ratio: float
) -> Iterator[list[int]]:
    """Yield the positions that every person keeps; isolated people are last."""
    size, phrases = len(utterance.phrase), int(utterance.phrase[-1]) + 1
    for person in range(people):
        taste = rng.normal(0, TASTE_SPREAD, phrases)[utterance.phrase]
        sign = -1 if person >= people - isolated else 1
        liking = sign * utterance.popularity + taste + rng.normal(0, CHOICE_SPREAD, size)
        share = ratio + rng.normal(0, LENGTH_SPREAD)
        yield [place + 1 for place in _largest(liking, share)]


def _largest(values: Floats, share: float) -> list[int]:
    """Return the indices of a share of the values, at least one, in order."""
    count = min(len(values), max(1, round(share * len(values))))
    return sorted(np.argsort(-values, kind="stable")[:count].tolist())


# --- Recognition and systems ---------------------------------------------------------------------


class SimulatedWord(NamedTuple):
    """A recognized word with its times, its position or 0 if it is wrong, and where it is."""

    word: str
    start: float
    end: float
    position: int
    place: int


def _recognize(rng: Generator, utterance: Utterance) -> Iterator[SimulatedWord]:
    """Yield the recognized words of an utterance, some of which are wrong."""
    rate = rng.beta(*RECOGNITION_ERRORS)
    vocabulary = [*NOUNS, *VERBS, *ADJECTIVES]
    for place, (word, start, end) in enumerate(utterance.timed_words):
        kind = rng.random() / rate if rate else 1.0
        wrong = str(rng.choice(vocabulary))
        while wrong == word:
            wrong = str(rng.choice(vocabulary))
        if kind >= 1:
            yield SimulatedWord(word, start, end, place + 1, place)
        elif kind < REPLACED_SHARE:
            yield SimulatedWord(wrong, start, end, 0, place)
        elif kind >= REPLACED_SHARE + DROPPED_SHARE:
            middle = round((start + end) / 2, 2)
            yield SimulatedWord(word, start, middle, place + 1, place)
            yield SimulatedWord(wrong, middle, end, 0, place)


def _summarize(
    rng: Generator,
    utterance: Utterance,
    recognized: Sequence[SimulatedWord],
    degradation: float,
    ratio: float,
) -> list[SimulatedWord]:
    """Return the words that a system keeps; ``degradation`` is 0 for the best system, 1 at most."""
    ends = (POPULARITY_WEIGHTS, ERROR_SPREADS, CAUTION)
    weight, spread, caution = (first + (last - first) * degradation for first, last in ends)
    is_wrong = np.array([word.position == 0 for word in recognized])
    popularity = utterance.popularity[[word.place for word in recognized]]
    liking = weight * popularity - caution * is_wrong + rng.normal(0, spread, len(recognized))
    return [recognized[place] for place in _largest(liking, ratio)]


# --- Judges --------------------------------------------------------------------------------------


def _quality(utterance: Utterance, positions: Sequence[int]) -> float:
    """Return the latent quality of a summary, from 0 to 1; a position of 0 is a wrong word."""
    worth = utterance.popularity - utterance.popularity.min()
    right = [position - 1 for position in positions if position]
    information = worth[right].sum() / np.sort(worth)[-len(positions) :].sum()
    joined = sum(first > 0 and second == first + 1 for first, second in pairwise(positions))
    fluency = joined / max(1, len(positions) - 1)
    return float(INFORMATION_WEIGHT * information + FLUENCY_WEIGHT * fluency)
