"""The commands summarize and summarizer: summaries by word extraction, and their models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from earwitness.audio.encode import kind_of
from earwitness.cli.main import SubcommandGroup
from earwitness.cli.output import (
    EXISTING_FILE,
    FILE,
    OUTPUT_OPTION,
    QUIET_OPTION,
    SEED_OPTION,
    SOUND_UNIT,
    TextTarget,
    add_options,
    cache_option,
    check_results,
    choice_option,
    list_option,
    note_on_interruption,
    option,
    output_option,
    print_message,
    print_notes,
    progress_bar,
    text_option,
    warnings_as_notes,
)
from earwitness.errors import UsageError
from earwitness.io.atomic import AtomicFile
from earwitness.summaries.methods.compaction import ScoreWeights, SummarizedSpeech
from earwitness.summaries.methods.inputs import (
    SpeechInput,
    join_words,
    read_speech,
    refuse_where,
    transcript_speech,
    write_item_lines,
    write_output_lines,
)
from earwitness.summaries.methods.scores import find_language
from earwitness.summaries.methods.summarize import (
    DEFAULT_RATIO,
    SCOPES,
    SummarizerSettings,
    choose_tokenizer,
    open_models,
    parse_weights,
    summarize_speech,
)
from earwitness.task import Filter, parse_where
from earwitness.text.words import TOKENIZERS

if TYPE_CHECKING:
    from earwitness.summaries.methods.passages import SpokenSummary

INTERRUPTED_NOTE = "recognized words are kept — run it again to resume"
UTTERANCE_UNIT = "utterances"
SPEECH_ENDINGS = (".ctm", ".srt", ".vtt", ".textgrid", ".json", ".jsonl", ".tsv")

# --- Options -------------------------------------------------------------------------------------


MODEL_OPTIONS = (
    text_option(
        "--lm",
        metavar="NAME|FILE",
        help="Language model: pocketsphinx (English), an ARPA file, or none.  "
        "[default: pocketsphinx for English, else none]",
    ),
    text_option("--grammar", metavar="FILE", help="Grammar from train-grammar.  [default: none]"),
    option(
        "--language",
        default="en",
        metavar="CODE",
        help="Language of the words, for their frequencies.",
    ),
    choice_option(
        "--topic",
        choices=["auto", "tagger", "frequency"],
        help="Rule for topic words (tagger: Japanese only).",
    ),
)
WHERE_OPTION = list_option(
    "--where",
    metavar="CONDITION",
    help="Use only items for which a condition on meta holds, such as kind=news (repeatable).",
)
TOKENIZE_OPTION = option(
    "--tokenize",
    choices=TOKENIZERS,
    help="Tokenizer of texts.  [default: japanese for --language ja, else blanks]",
)


# --- Command summarize ---------------------------------------------------------------------------


@click.command("summarize")
@click.argument("source", type=EXISTING_FILE)
@option(
    "--ratio",
    type=float,
    default=DEFAULT_RATIO,
    help="Share of the words to keep, above 0 and at most 1.",
)
@choice_option(
    "--scope",
    choices=SCOPES,
    help="What the ratio applies to: every utterance, or the whole speech.",
)
@output_option("Kept positions as JSON Lines, for earwitness score.")
@option("--text", type=FILE, help="Text of the summary.")
@option("--spoken", type=FILE, help="Summary cut from the audio (.wav, .flac …).")
@option("--page", type=FILE, help="HTML page that shows kept words.")
@option("--items", type=FILE, help="All words as items, for references (JSONL).")
@option(
    "--audio",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Audio of a transcript with word times, for --spoken and --page.",
)
@list_option(
    "--weight",
    "weights",
    metavar="SCORE=λ",
    help="Weight of L (linguistic), I (significance), C (confidence) or T (concatenation); "
    "0 switches it off (repeatable).  [default: L=1, I=1, C=1, T=2]",
)
@option("--weights-file", type=FILE, help="Weights from summarizer tune.")
@add_options(WHERE_OPTION, *MODEL_OPTIONS, TOKENIZE_OPTION)
@option(
    "--beam",
    type=click.IntRange(0),
    help="Arcs per word that the search follows; 0: all.  [default: all up to 60 words]",
)
@option("--system", default="compaction", help="Name of the system in -o.")
@option(
    "--write",
    "content",
    choices=["positions", "words"],
    help="What -o has.  [default: words for items with recognized words, else positions]",
)
@option(
    "--recognizer",
    default="pocketsphinx",
    metavar="NAME|FOLDER",
    help="Recognizer of audio, as in transcribe.",
)
@cache_option("recognized words")
@QUIET_OPTION
def summarize_command(
    source: Path,
    ratio: float,
    scope: str,
    output: Path | None,
    text: Path | None,
    spoken: Path | None,
    page: Path | None,
    items: Path | None,
    audio: Path | None,
    weights: tuple[str, ...],
    weights_file: Path | None,
    where: tuple[str, ...],
    lm: str,
    grammar: str,
    language: str,
    topic: str,
    tokenize: str | None,
    beam: int | None,
    system: str,
    content: str | None,
    recognizer: str,
    cache: Path | None,
    quiet: bool,
) -> None:
    """Summarize speech by word extraction (compaction).

    SOURCE is an audio file, which is recognized; a transcript with or without times (.txt, .ctm,
    .srt, .vtt, .json …); or a file of items or references (.jsonl). The summary is printed, one
    line per utterance, unless --text names a file.

    \b
    earwitness summarize talk.mp3 --spoken summary.wav --page summary.html
    earwitness summarize talk.srt --ratio 0.3 --scope speech
    earwitness summarize references.jsonl -o outputs.jsonl
    """
    results = [path for path in (output, text, spoken, page, items) if path is not None]
    check_results([source, audio, weights_file, lm, grammar], results)
    if spoken is not None:
        kind_of(spoken.suffix)  # refuses unknown formats
    if audio is not None and spoken is None and page is None:
        raise UsageError("--audio is for --spoken and --page — add one of them")
    if content is not None and output is None:
        raise UsageError("--write is an option of -o — add -o FILE")
    files = {path: AtomicFile(path) for path in results}  # refuses paths that cannot be written
    tokenizer = tokenize or choose_tokenizer(language)
    start = None
    if weights_file is not None:
        from earwitness.summaries.methods.tune import read_weights

        start = read_weights(weights_file)
    settings = SummarizerSettings(ratio, scope, parse_weights(weights, start), beam)
    if not system.strip():
        raise UsageError("--system is empty — give the system a name")
    models, notes = open_models(lm, grammar, language=language, topic=topic)
    check_weights(settings.weights, weights, grammar)
    if audio is not None:
        read_seconds(audio)  # refuses files that cannot be read
    with warnings_as_notes():
        speech, sound = read_source(
            source,
            audio,
            tokenizer,
            recognizer,
            cache,
            language=language,
            where=parse_where(where),
            quiet=quiet,
        )
        if sound is None and spoken is not None:
            raise UsageError("--spoken requires audio — set --audio FILE")
        if speech.recognized and content == "positions":
            raise UsageError(
                "positions of recognized words are not those of the transcript — use --write words"
            )
        with progress_bar(quiet=quiet, unit=UTTERANCE_UNIT) as progress:
            made = summarize_speech(
                speech,
                models,
                settings,
                notes=notes,
                tokenize=tokenizer,
                recognizer=recognizer if sound == source else "",
                progress=progress,
            )
        as_words = speech.recognized if content is None else content == "words"
        written: dict[Path | None, Iterable[str]] = {
            output: write_output_lines(made, system, separate=speech.separate, as_words=as_words),
            items: write_item_lines(made, separate=speech.separate),
            text: [summary_text(made)],
        }
        heard = None if sound is None else render_sound(made, sound, required=spoken is not None)
        if page is not None:
            from earwitness.summaries.methods.page import summary_page

            shown = find_language(language)
            written[page] = [summary_page(made, heard, title=made.name, language=shown)]
        if spoken is not None and heard is not None:
            from earwitness.summaries.methods.passages import write_spoken_summary

            made = replace(made, notes=(*made.notes, *write_spoken_summary(spoken, heard)))
        for path in results:
            if path in written:
                with files[path] as file:
                    file.writelines(written[path])
    if text is None:
        click.echo(summary_text(made), nl=False)
    share = f" ({made.kept_count / made.word_count:.0%})" if made.word_count else ""
    kept = f"kept {made.kept_count:,} of {made.word_count:,} words{share}"
    print_notes((kept, *made.notes))
    for path in results:
        print_message(f"wrote {path}")


def check_weights(weights: ScoreWeights, given: Sequence[str], grammar: str) -> None:
    """Refuse weights that use no score, and note those without effect."""
    if not any((weights.linguistic, weights.significance, weights.confidence)) and not grammar:
        raise UsageError("all weights are 0, so no words can be chosen — set --weight I=1")
    names = [text.partition("=")[0].strip().lower() for text in given]
    if not grammar and {"t", "concatenation"} & {*names} and weights.concatenation:
        print_message("note: T is not used, since no grammar is given — set --grammar")
    if grammar and not weights.concatenation:
        print_message("note: the grammar is not used, since the weight of T is 0")


def summary_text(speech: SummarizedSpeech) -> str:
    """Return the summary, one line per utterance that has words left."""
    lines = (join_words(one.words) for one in speech.compactions if one.positions)
    return "".join(f"{line}\n" for line in lines)


def read_seconds(audio: Path) -> float:
    """Return the duration of an audio file, or refuse it."""
    from earwitness.audio.decode import facts_of

    return facts_of(audio).seconds


def render_sound(speech: SummarizedSpeech, audio: Path, *, required: bool) -> SpokenSummary | None:
    """Return the spoken summary, or None with a note if words have no times."""
    from earwitness.summaries.methods.passages import find_passages, render_summary

    timed = all(one.utterance.times for one in speech.compactions if one.positions)
    if not timed and not required:
        print_message("note: words have no times, so the page has no sound")
        return None
    return render_summary(audio, find_passages(speech, read_seconds(audio)))


def read_source(
    source: Path,
    audio: Path | None,
    tokenizer: str,
    recognizer: str,
    cache: Path | None,
    *,
    language: str,
    where: Filter,
    quiet: bool,
) -> tuple[SpeechInput, Path | None]:
    """Return the utterances of a file and its audio; audio is recognized."""
    from earwitness.recordings.recording import SOUND_ENDINGS

    if source.suffix.lower() not in SOUND_ENDINGS:
        speeches = read_speech(source, tokenizer, where=where)
        if len(speeches) > 1:
            names = ", ".join(one.name for one in speeches[:3])
            raise UsageError(
                f"{source}: has {len(speeches):,} recordings ({names} …) — give one per file"
            )
        if audio is not None and speeches[0].separate:
            raise UsageError(
                "--audio is the recording of one transcript — items may be of several recordings"
            )
        return speeches[0], audio
    refuse_where(source, where)
    if audio is not None:
        raise UsageError("--audio is for transcripts — SOURCE is audio itself")
    from earwitness.speech.recognize import transcribe

    with (
        note_on_interruption(INTERRUPTED_NOTE),
        progress_bar(quiet=quiet, unit=SOUND_UNIT) as progress,
    ):
        found = transcribe(
            source, recognizer=recognizer, language=language, cache=cache, progress=progress
        )
    speech = transcript_speech(found.transcript, tokenizer)
    if not speech.utterances:
        raise UsageError(f"{source}: no words were recognized")
    return speech._replace(notes=(*speech.notes, *found.notes)), source


# --- Command summarizer --------------------------------------------------------------------------


TEXTS_ARGUMENT = click.argument(
    "texts",
    nargs=-1,
    required=True,
    type=EXISTING_FILE,
    metavar="TEXT…",
)
TEXT_TOKENIZER_OPTION = option(
    "--tokenize", choices=TOKENIZERS, default="blanks", help="Tokenizer of texts."
)


@click.group("summarizer", cls=SubcommandGroup)
def summarizer_command() -> None:
    """Estimate the models and weights of the speech summarizer.

    \b
    earwitness summarizer train-lm texts/*.txt -o model.arpa
    earwitness summarizer tune references.jsonl -o weights.json
    """


@summarizer_command.command("train-lm")
@TEXTS_ARGUMENT
@option("--order", type=click.IntRange(1, 5), default=3, help="Length of the longest n-grams.")
@TEXT_TOKENIZER_OPTION
@OUTPUT_OPTION
def train_lm_command(
    texts: tuple[Path, ...], order: int, tokenize: str, output: Path | None
) -> None:
    """Estimate a language model from text.

    TEXT is a text file, of which every line is split into sentences, or a transcript (.srt, .json
    …). The model (interpolated Kneser–Ney) is written in the ARPA format.

    \b
    earwitness summarizer train-lm news.txt -o news.arpa
    earwitness summarizer train-lm japanese.txt --tokenize japanese -o japanese.arpa
    """
    from earwitness.summaries.methods.language_models import train_language_model
    from earwitness.text.ngrams import write_arpa

    target = TextTarget(output, texts)
    model = train_language_model(iterate_texts(texts, tokenize), order, tokenize)
    target.write("".join(write_arpa(model)))


def iterate_texts(paths: Sequence[Path], tokenize: str) -> Iterator[Path | str]:
    """Yield text files, and the utterances of transcripts and items as lines."""
    for path in paths:
        if path.suffix.lower() not in SPEECH_ENDINGS:
            yield path
            continue
        for speech in read_speech(path, tokenize):
            yield from (join_words(one.words) for one in speech.utterances)


@summarizer_command.command("train-grammar")
@TEXTS_ARGUMENT
@option(
    "--classes",
    type=click.IntRange(1, 500),
    default=10,
    help="Number of word classes, for texts without a treebank.",
)
@option(
    "--iterations",
    type=click.IntRange(0),
    default=10,
    help="Iterations of inside–outside on texts.",
)
@TEXT_TOKENIZER_OPTION
@SEED_OPTION
@output_option("Output file.", required=True)
@QUIET_OPTION
def train_grammar_command(
    texts: tuple[Path, ...],
    tokenize: str,
    output: Path,
    quiet: bool,
    **options: Any,
) -> None:
    """Estimate a dependency grammar from text or a treebank.

    TEXT is a text file, of which every line is split into sentences, or a treebank (.conllu). A
    treebank is counted; texts improve the grammar by the inside–outside algorithm.

    \b
    earwitness summarizer train-grammar treebank.conllu -o grammar.json
    earwitness summarizer train-grammar talks.txt --classes 12 -o grammar.json
    """
    from earwitness.summaries.methods.dependencies import train_grammar

    check_results(texts, [output])
    AtomicFile(output)
    for path in texts:
        if path.suffix.lower() in SPEECH_ENDINGS:
            raise UsageError(f"{path}: is a transcript — give text (.txt) or a treebank (.conllu)")
    with warnings_as_notes(), progress_bar(quiet=quiet, unit="sentences") as progress:
        grammar = train_grammar(texts, split=TOKENIZERS[tokenize], progress=progress, **options)
    grammar.save(output)
    print_message(f"wrote {output}")


@summarizer_command.command("tune")
@click.argument("references", type=EXISTING_FILE)
@option("--ratio", type=float, help="Share of the words to keep.  [default: as in the references]")
@option("--folds", type=click.IntRange(2), default=5, help="Folds of the cross-validation.")
@add_options(WHERE_OPTION, *MODEL_OPTIONS, TOKENIZE_OPTION)
@SEED_OPTION
@output_option("Weights (JSON).")
@QUIET_OPTION
def tune_command(
    references: Path,
    ratio: float | None,
    folds: int,
    where: tuple[str, ...],
    lm: str,
    grammar: str,
    language: str,
    topic: str,
    tokenize: str | None,
    seed: int,
    output: Path | None,
    quiet: bool,
) -> None:
    """Fit the weights of the scores to reference summaries.

    REFERENCES is a file of reference summaries (JSON Lines). The weights maximize the mean
    SumACCY; the result of cross-validation is printed.

    \b
    earwitness summarizer tune references.jsonl -o weights.json
    earwitness summarize talk.srt --weights-file weights.json
    """
    from earwitness.summaries.methods.tune import (
        format_tuning,
        read_references,
        tune_weights,
        write_weights,
    )

    check_results([references, lm, grammar], [output])
    if output is not None:
        AtomicFile(output)
    models, notes = open_models(lm, grammar, language=language, topic=topic)
    tokenizer = tokenize or choose_tokenizer(language)
    utterances, cases = read_references(references, tokenizer, where=parse_where(where))
    with warnings_as_notes(), progress_bar(quiet=quiet, unit="fits") as progress:
        tuned = tune_weights(
            utterances, cases, models, ratio=ratio, folds=folds, seed=seed, progress=progress
        )
    click.echo(format_tuning(tuned), nl=False)
    print_notes(notes)
    if output is not None:
        write_weights(tuned, output)
        print_message(f"wrote {output}")


@summarizer_command.command("systems")
@click.argument("references", type=EXISTING_FILE)
@option("--ratio", type=float, help="Share of the words to keep.  [default: as in the references]")
@option("--weights-file", type=FILE, help="Weights from summarizer tune.")
@add_options(*MODEL_OPTIONS, TOKENIZE_OPTION)
@OUTPUT_OPTION
def systems_command(
    references: Path,
    ratio: float | None,
    weights_file: Path | None,
    lm: str,
    grammar: str,
    language: str,
    topic: str,
    tokenize: str | None,
    output: Path | None,
) -> None:
    """Summarize items with up to nine combinations of the scores.

    REFERENCES is a file of reference summaries (JSON Lines). Each combination is a system; those
    whose scores are not available are left out.

    \b
    earwitness summarizer systems references.jsonl -o outputs.jsonl
    earwitness experiment references outputs.jsonl references.jsonl -o report.html
    """
    from earwitness.experiments.systems import make_systems
    from earwitness.summaries.methods.tune import read_weights

    target = TextTarget(output, [references, lm, grammar, weights_file])
    models, notes = open_models(lm, grammar, language=language, topic=topic)
    made = make_systems(
        references,
        models,
        weights=None if weights_file is None else read_weights(weights_file),
        ratio=ratio,
        tokenize=tokenize or choose_tokenizer(language),
    )
    target.write("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in made.outputs))
    print_notes((*notes, *made.notes))
