"""Summaries of speech by word extraction: models, settings and the function summarize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import isnan, nan
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from earwitness.core import Progress, StrPath, no_progress
from earwitness.errors import UsageError, nearest
from earwitness.summaries.methods.compaction import (
    Compaction,
    ScoreTables,
    ScoreWeights,
    SpokenUtterance,
    SummarizedSpeech,
)
from earwitness.summaries.methods.grammar import Grammar, load_grammar, score_dependencies
from earwitness.summaries.methods.inputs import SpeechInput, read_speech
from earwitness.summaries.methods.language_models import (
    LanguageModel,
    LanguageModelFit,
    measure_fit,
    open_language_model,
)
from earwitness.summaries.methods.scores import (
    find_language,
    make_tables,
    significance_signature,
)
from earwitness.summaries.methods.search import (
    allocate_words,
    count_kept,
    search_summaries,
    split_score,
)
from earwitness.text.words import TOKENIZERS, tokenizer_signature

Scope = Literal["utterance", "speech"]
ENGLISH = "en"
NO_MODEL = "none"  # name that switches a model off
SHOWN_UNKNOWN_WORDS, MAX_SHOWN_LETTERS = 5, 30  # in notes
MAX_FITTING_OOV_RATE = 0.2  # above which another language model is recommended
SCORE_NAMES = tuple(field.name for field in fields(ScoreWeights))
SCORE_LETTERS = {"L": "linguistic", "I": "significance", "C": "confidence", "T": "concatenation"}


@dataclass(frozen=True)
class SummarizerModels:
    """Models of the scores, language model and grammar, and the rule for topic words."""

    language_model: LanguageModel | None = None
    dependencies: Grammar | None = None
    language: str = ENGLISH
    topic: str = "auto"

    def score(
        self,
        utterances: Sequence[SpokenUtterance],
        weights: ScoreWeights | None = None,
        *,
        separate: bool = False,
    ) -> list[ScoreTables]:
        """Return the scores of all utterances; those with the weight 0 are left out.

        Words are counted in the speech as a whole, or in each of ``separate`` utterances.
        """
        weights = weights or ScoreWeights()
        tables = make_tables(
            utterances,
            self.language_model if weights.linguistic else None,
            language=self.language,
            topic=self.topic,
            significance=bool(weights.significance),
            separate=separate,
        )
        if self.dependencies is None or not weights.concatenation:
            return tables
        return [
            replace(table, concatenation=score_dependencies(self.dependencies, utterance.words))
            for table, utterance in zip(tables, utterances, strict=True)
        ]

    def describe(self, weights: ScoreWeights) -> str:
        """Return the part of the signature that names models."""
        parts = [f"{name}={getattr(weights, name):g}" for name in SCORE_NAMES]
        if weights.significance:
            parts.append(significance_signature(self.language, self.topic))
        models = {"lm": self.language_model, "dependencies": self.dependencies}
        parts += [
            f"{name}={model.signature}" for name, model in models.items() if model is not None
        ]
        return ",".join(parts)


def open_models(
    *,
    language_model: Annotated[str, "NAME|FILE"] = "",
    grammar: Annotated[str, "FILE"] = "",
    language: Annotated[str, "CODE"] = ENGLISH,
    topic: str = "auto",
) -> tuple[SummarizerModels, tuple[str, ...]]:
    """Return the models by name or path, and notes.

    Parameters
    ----------
    language_model
        Language model: pocketsphinx (English), an ARPA file, or none. By default pocketsphinx for
        English, else none.
    grammar
        Grammar from summarizer train-grammar. By default none.
    language
        Language of the words, such as en or ja; texts in Japanese are split into words.
    topic
        Rule for topic words, as in ``score_significance``.
    """
    notes: tuple[str, ...] = ()
    language = find_language(language)
    name = language_model or ("pocketsphinx" if language == ENGLISH else NO_MODEL)
    if not language_model and name == NO_MODEL:
        notes = (
            f'no language model for the language "{language}", so linguistic scores are not used '
            "— estimate one with earwitness summarizer train-lm, and set --language-model",
        )
    model = None if name == NO_MODEL else open_language_model(name)
    dependencies = load_grammar(grammar) if grammar not in ("", NO_MODEL) else None
    return SummarizerModels(model, dependencies, language, topic), notes


def choose_tokenizer(language: str) -> str:
    """Return the default tokenizer of a language."""
    return "japanese" if find_language(language) == "ja" else "blanks"


def parse_weights(texts: Sequence[str], start: ScoreWeights | None = None) -> ScoreWeights:
    """Return weights from texts such as ``I=2`` or ``linguistic=0``.

    >>> parse_weights(["I=3", "concatenation=0"])
    ScoreWeights(linguistic=1.0, significance=3.0, confidence=1.0, concatenation=0.0)
    """
    values = dict[str, float]()
    for text in texts:
        name, _, number = text.partition("=")
        name = SCORE_LETTERS.get(name.strip().upper(), name.strip().lower())
        if name not in SCORE_NAMES:
            known = [*SCORE_LETTERS, *SCORE_NAMES]
            raise UsageError(f'unknown score "{name}" — {nearest(name, known)}')
        try:
            values[name] = float(number)
        except ValueError:
            raise UsageError(f'weight "{text}" is not a number — write, for example, I=2') from None
        if not 0 <= values[name] < float("inf"):
            raise UsageError(f'weight "{text}" must be 0 or a positive number — 0: not used')
    return replace(start or ScoreWeights(), **values)


@dataclass(frozen=True, kw_only=True)
class SummarizerSettings:
    """Settings of a summary.

    Parameters
    ----------
    ratio
        Share of the words to keep, above 0 and at most 1; at least one word of each utterance.
    scope
        What the ratio applies to: every ``utterance``, or the ``speech`` as a whole, in which case
        utterances may have no words left.
    weights
        Weights λ of the scores.
    beam
        Arcs per word that the search follows. By default all, and fewer for long utterances. 0
        follows all arcs in utterances of any length.
    """

    ratio: float = 0.4
    scope: Scope = "utterance"
    weights: ScoreWeights = field(default_factory=ScoreWeights)
    beam: int | None = None

    def __post_init__(self) -> None:
        count_kept(1, self.ratio)  # refuses ratios outside of their range
        if self.scope not in (scopes := get_args(Scope)):
            raise UsageError(f'unknown scope "{self.scope}" — {nearest(self.scope, scopes)}')


def compact(
    utterances: Sequence[SpokenUtterance],
    tables: Sequence[ScoreTables],
    settings: SummarizerSettings,
    *,
    progress: Progress = no_progress,
) -> tuple[Compaction, ...]:
    """Return the best summaries of utterances with given scores."""
    sizes = [len(utterance.words) for utterance in utterances]
    by_speech = settings.scope == "speech"
    wanted = [count_kept(size, settings.ratio) for size in sizes]
    searches = []
    for number, (table, size, count) in enumerate(zip(tables, sizes, wanted, strict=True), 1):
        limit = size if by_speech else count
        beam = max(size, 1) if settings.beam == 0 else settings.beam
        searches.append(search_summaries(table, settings.weights, limit, beam))
        progress(number, len(sizes), number)
    if by_speech:
        wanted = allocate_words(searches, count_kept(sum(sizes), settings.ratio))
    return tuple(
        Compaction(
            utterance,
            positions := search.positions(count),
            float(search.scores[count]),
            split_score(table, settings.weights, positions),
        )
        for utterance, table, search, count in zip(
            utterances, tables, searches, wanted, strict=True
        )
    )


def find_scores(tables: Sequence[ScoreTables]) -> tuple[str, ...]:
    """Return the names of the scores that are available for an utterance."""
    return tuple(
        name for name in SCORE_NAMES if any(getattr(table, name) is not None for table in tables)
    )


def restrict_weights(weights: ScoreWeights, scores: Sequence[str]) -> ScoreWeights:
    """Return weights of which all but those of the named scores are 0.

    >>> restrict_weights(ScoreWeights(), ["linguistic", "significance"])
    ScoreWeights(linguistic=1.0, significance=1.0, confidence=0.0, concatenation=0.0)
    """
    return replace(weights, **{name: 0.0 for name in SCORE_NAMES if name not in scores})


def summarize_speech(
    speech: SpeechInput,
    models: SummarizerModels,
    settings: SummarizerSettings,
    *,
    notes: Sequence[str] = (),
    tokenize: str = "blanks",
    recognizer: str = "",
    progress: Progress = no_progress,
) -> SummarizedSpeech:
    """Return the summary of a speech; ``recognizer`` is the name of that of its words, if any."""
    separate = speech.separate and settings.scope == "utterance"
    tables = models.score(speech.utterances, settings.weights, separate=separate)
    settings = replace(settings, weights=restrict_weights(settings.weights, find_scores(tables)))
    compactions = compact(speech.utterances, tables, settings, progress=progress)
    model = models.language_model
    fit = None if model is None else measure_fit(model, speech.utterances)
    beam = "auto" if settings.beam is None else settings.beam
    signature = (
        f"compaction(ratio={settings.ratio:g},scope={settings.scope},beam={beam},"
        f"{models.describe(settings.weights)},tokenize={tokenizer_signature(tokenize)}"
        f"{f',recognizer={recognizer}' if recognizer else ''})"
    )
    return SummarizedSpeech(
        speech.name,
        compactions,
        settings.ratio,
        settings.scope,
        settings.weights,
        signature,
        fit.oov_rate if fit else nan,
        fit.perplexity if fit else nan,
        (*notes, *speech.notes, *_describe_fit(fit)),
    )


def _describe_fit(fit: LanguageModelFit | None) -> tuple[str, ...]:
    """Return a note on how well the language model knows the input."""
    if fit is None or isnan(fit.oov_rate):
        return ()
    listed = ", ".join(word[:MAX_SHOWN_LETTERS] for word in fit.unknown_words[:SHOWN_UNKNOWN_WORDS])
    note = f"language model: {fit.oov_rate:.1%} unknown words{f' ({listed})' if listed else ''}"
    if not isnan(fit.perplexity):
        note += f", perplexity {fit.perplexity:,.0f} without them"
    if fit.oov_rate > MAX_FITTING_OOV_RATE:
        note += " — estimate one from similar text with earwitness summarizer train-lm"
    return (note,)


def summarize(
    source: StrPath | Sequence[str | Sequence[str] | SpokenUtterance],
    *,
    language_model: str = "",
    grammar: str = "",
    language: str = ENGLISH,
    topic: str = "auto",
    progress: Progress = no_progress,
    **settings: Any,
) -> SummarizedSpeech:
    """Summarize speech by extracting words.

    Parameters
    ----------
    source
        Path of a text or transcript (see ``earwitness.summaries.methods.inputs.read_speech``), or a
        list of utterances: texts, lists of words, or ``SpokenUtterance``.
    language_model, grammar, language, topic
        Models, as in ``open_models``. Texts in Japanese are split into words.
    progress
        Callback for progress reports, in utterances.
    **settings
        ``ratio``, ``scope``, ``weights`` and ``beam``; see ``SummarizerSettings``.

    Returns
    -------
    SummarizedSpeech
        Kept positions and scores of each utterance.

    Raises
    ------
    UsageError, InputError
        If an argument, a model or a file is invalid.

    Examples
    --------
    >>> made = summarize(["the very old harbour bridge is closed"], language_model="none")
    >>> " ".join(made.compactions[0].words)
    'harbour bridge closed'
    """
    tokenize = choose_tokenizer(language)
    chosen = SummarizerSettings(**settings)
    if isinstance(source, str | PathLike):
        speech, *others = read_speech(Path(source), tokenize)
        if others:
            raise UsageError(
                f"{source}: has {len(others) + 1:,} recordings — give one file per recording"
            )
    else:
        speech = SpeechInput("speech", _given_utterances(source, tokenize))
    models, notes = open_models(
        language_model=language_model, grammar=grammar, language=language, topic=topic
    )
    return summarize_speech(
        speech, models, chosen, notes=notes, tokenize=tokenize, progress=progress
    )


def _given_utterances(
    given: Sequence[str | Sequence[str] | SpokenUtterance], tokenize: str
) -> tuple[SpokenUtterance, ...]:
    """Return utterances; those without a name are numbered."""
    found = list[SpokenUtterance]()
    for number, utterance in enumerate(given, 1):
        if not isinstance(utterance, SpokenUtterance):
            words = TOKENIZERS[tokenize](utterance) if isinstance(utterance, str) else utterance
            utterance = SpokenUtterance(tuple(words))
        found.append(
            utterance if utterance.item else replace(utterance, item=f"utterance-{number:03}")
        )
    return tuple(found)
