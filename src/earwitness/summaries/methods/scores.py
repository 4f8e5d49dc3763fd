"""Scores of words for compaction: linguistic scores, significance, and confidence.

- **Linguistic score** L: natural logarithm of a trigram probability (``language_models``).
- **Significance** I = f · ln(F_A / F) of topic words, where f is the number of occurrences in the
  speech (all utterances given), F the frequency of the word in a large corpus (package wordfreq)
  and F_A the sum of all frequencies there. Other words have a flat score.
- **Confidence** C: natural logarithm of the word posterior of a recognizer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from heapq import nlargest
from importlib.metadata import version
from importlib.util import find_spec
from math import log
from typing import NamedTuple

import numpy as np

from earwitness.errors import MissingExtra, UsageError, nearest
from earwitness.stats.arrays import Bools
from earwitness.summaries.methods.compaction import Floats, ScoreTables, SpokenUtterance
from earwitness.summaries.methods.language_models import LanguageModel
from earwitness.text.words import is_spoken, normalise_word, tag_japanese

# --- Significance --------------------------------------------------------------------------------


FLAT_SIGNIFICANCE = 1.0  # of words that are not topic words
FREQUENT_WORDS = 200  # words that are no topic words where no tagger is used
HESITATIONS = frozenset(("ah", "eh", "er", "erm", "hm", "hmm", "huh", "mm", "uh", "um"))
DIGIT_SEQUENCE = re.compile(r"\d\d")  # which wordfreq stores as zeros
MAX_NUMBER_CHARACTERS = 300  # longer numbers are as rare as unknown words
TOPIC_RULES = ("auto", "tagger", "frequency")
JAPANESE_TOPICS = {"名詞", "動詞"}  # nouns and verbs
JAPANESE_DEPENDENT = {"非自立", "接尾", "代名詞", "数"}  # dependent, suffix, pronoun, numeral
JAPANESE_LIGHT_VERBS = {"する", "ある", "いる", "なる"}


def score_significance(
    utterances: Sequence[SpokenUtterance],
    *,
    language: str = "en",
    topic: str = "auto",
    flat: float = FLAT_SIGNIFICANCE,
) -> list[Floats]:
    """Score the significance of words: f · ln(F_A / F) for topic words, else a flat score.

    Parameters
    ----------
    utterances
        All utterances of a speech, in which the occurrences f of words are counted.
    language
        Code of the language, such as ``"en"``.
    topic
        Topic words are all but function words, which are the 200 most frequent words of the
        language and hesitations such as "um" (``"frequency"``), or nouns and verbs by the tagger
        janome (``"tagger"``, only for Japanese). ``"auto"`` uses the tagger for Japanese if it is
        installed, and frequencies otherwise.
    flat
        Score of words that are not topic words.

    Returns
    -------
    list of array
        Scores of the words of each utterance. A word that wordfreq does not know has the smallest
        frequency of its list.

    Examples
    --------
    >>> scores = score_significance([SpokenUtterance(("the", "rain"))], topic="frequency")
    >>> [round(float(score), 1) for score in scores[0]]
    [1.0, 9.9]
    """
    corpus = _load_corpus(language)
    find_topics = _choose_topic_rule(language, topic)[1]
    counts = Counter(normalise_word(word) for said in utterances for word in said.words)
    values = {
        word: count * log(corpus.total / _find_frequency(word, corpus))
        for word, count in counts.items()
    }
    own = ([values[normalise_word(word)] for word in said.words] for said in utterances)
    topics = (find_topics(said.words) for said in utterances)
    return [np.where(*pair, flat) for pair in zip(topics, own, strict=True)]


def _find_frequency(word: str, corpus: _CorpusFrequencies) -> float:
    """Return a frequency; numbers and compounds are looked up as wordfreq stores them."""
    if word in corpus.frequencies:
        return corpus.frequencies[word]
    parts = [part for part in word.split("-") if part]
    if len(parts) > 1:
        return max(corpus.smallest, 1 / sum(1 / _find_frequency(part, corpus) for part in parts))
    if DIGIT_SEQUENCE.search(word) and len(word) <= MAX_NUMBER_CHARACTERS:
        from wordfreq.numbers import digit_freq, smash_numbers

        known = corpus.frequencies.get(smash_numbers(word), 0.0)
        return max(corpus.smallest, float(known * digit_freq(word)))
    return corpus.smallest


def significance_signature(language: str = "en", topic: str = "auto") -> str:
    """Return the corpus, the rule of topic words with versions of libraries, and the flat score."""
    _load_corpus(language)
    rule = f"{_choose_topic_rule(language, topic)[0]},flat={FLAT_SIGNIFICANCE:g}"
    return f"wordfreq={version('wordfreq')},language={language},{rule}"


class _CorpusFrequencies(NamedTuple):
    """Relative frequencies of words, and their sum and minimum."""

    frequencies: Mapping[str, float]
    total: float
    smallest: float


@cache
def _load_corpus(language: str) -> _CorpusFrequencies:
    try:
        import wordfreq
    except ImportError:
        raise MissingExtra("wordfreq", "summarizer", "significance scores") from None
    try:
        found: Mapping[str, float] = wordfreq.get_frequency_dict(language)
    except (LookupError, ValueError):
        remedy = nearest(language, wordfreq.available_languages())
        raise UsageError(f'no word frequencies of language "{language}" — {remedy}') from None
    return _CorpusFrequencies(found, sum(found.values()), min(found.values()))


def find_language(code: str) -> str:
    """Return the language of a code of any standard, without its country, such as ``"en"``.

    >>> find_language("eng"), find_language("en-GB"), find_language("ja")
    ('en', 'en', 'ja')
    """
    base = code.strip().lower().replace("_", "-").partition("-")[0]
    if len(base) == 2 and base.isalpha():
        return base
    try:
        import langcodes
    except ImportError:
        raise MissingExtra("wordfreq", "summarizer", "language codes of three letters") from None
    try:
        found = langcodes.Language.get(base).language if base else None
    except ValueError:
        found = None
    if not found:
        raise UsageError(f'unknown language "{code}" — use a code such as en, fr or ja')
    return str(found)


TopicRule = Callable[[Sequence[str]], Bools]


@cache
def _choose_topic_rule(language: str, topic: str) -> tuple[str, TopicRule]:
    """Return the signature and the function of a rule, which marks the topic words."""
    if topic not in TOPIC_RULES:
        raise UsageError(f'unknown rule of topic words "{topic}" — {nearest(topic, TOPIC_RULES)}')
    is_japanese = find_language(language) == "ja"
    is_installed = find_spec("janome") is not None
    if topic == "frequency" or (topic == "auto" and not (is_japanese and is_installed)):
        return f"topic=frequency({FREQUENT_WORDS})", partial(_mark_rare_words, language)
    if not is_japanese:
        raise UsageError(
            f'topic="tagger" works only for Japanese, not for "{language}" — use topic="frequency"'
        )
    if not is_installed:
        raise MissingExtra("janome", "ja", 'topic="tagger"')
    return f"topic=tagger(janome={version('janome')})", _mark_japanese


def _mark_rare_words(language: str, words: Sequence[str]) -> Bools:
    left_out = _load_frequent_words(language) | HESITATIONS
    plain = map(normalise_word, words)
    return np.array([word not in left_out and is_spoken(word) for word in plain], np.bool_)


@cache
def _load_frequent_words(language: str) -> frozenset[str]:
    frequencies = _load_corpus(language).frequencies
    return frozenset(nlargest(FREQUENT_WORDS, frequencies, frequencies.__getitem__))


def _mark_japanese(words: Sequence[str]) -> Bools:
    """Mark words by janome; a word that janome splits differently is tagged on its own."""
    tagged = tag_japanese("".join(words))
    if [word for word, _ in tagged] != list(words):
        tagged = [(word, next((kinds for _, kinds in tag_japanese(word)), ())) for word in words]
    return np.array([_is_japanese_topic(kinds) for _, kinds in tagged], np.bool_)


def _is_japanese_topic(kinds: Sequence[str]) -> bool:
    """Whether parts of speech, of which the last is the base form, are those of a topic word."""
    if not kinds or kinds[0] not in JAPANESE_TOPICS or JAPANESE_DEPENDENT.intersection(kinds):
        return False
    return kinds[0] == "名詞" or kinds[-1] not in JAPANESE_LIGHT_VERBS


# --- Confidence ----------------------------------------------------------------------------------


MIN_POSTERIOR = 0.001  # lower posteriors count as this one


def score_confidence(utterance: SpokenUtterance) -> Floats | None:
    """Return the natural logarithms of the posteriors of words, or None if there are none.

    Posteriors are limited to the range from 0.001 to 1. A word without one (NaN) has the mean score
    of the others.

    Examples
    --------
    >>> said = SpokenUtterance(("it", "rains"), confidences=(1.0, 0.5))
    >>> score_confidence(said).round(2).tolist()
    [0.0, -0.69]
    """
    if utterance.confidences is None:
        return None
    scores = np.log(np.clip(np.array(utterance.confidences, np.float64), MIN_POSTERIOR, 1.0))
    unknown = np.isnan(scores)
    scores[unknown] = 0.0 if unknown.all() else scores[~unknown].mean()
    return scores


# --- Score tables --------------------------------------------------------------------------------


def make_tables(
    utterances: Sequence[SpokenUtterance],
    model: LanguageModel | None,
    *,
    language: str = "en",
    topic: str = "auto",
    significance: bool = True,
    separate: bool = False,
) -> list[ScoreTables]:
    """Return the scores of the utterances of a speech, without those of concatenation.

    Parameters
    ----------
    utterances
        All utterances of a speech, or ``separate`` ones that do not belong together: words are then
        counted in each utterance alone.
    model
        Language model; None leaves linguistic scores out.
    language, topic
        As of ``score_significance``.
    significance
        Whether significance is scored, which needs the package wordfreq.
    """
    scored: Sequence[Floats | None] = [None] * len(utterances)
    if significance:
        groups = [[said] for said in utterances] if separate else [utterances]
        score = partial(score_significance, language=language, topic=topic)
        scored = [word_scores for group in groups for word_scores in score(group)]
    return [
        ScoreTables(
            size=len(said.words),
            linguistic=None if model is None else model.score_places(said.words),
            significance=word_scores,
            confidence=score_confidence(said),
        )
        for said, word_scores in zip(utterances, scored, strict=True)
    ]
