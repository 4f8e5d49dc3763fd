"""Procedure of a study in sentences, for methods paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from earwitness.analysis.results import Procedure
from earwitness.core import count_text
from earwitness.report.numbers import short_number
from earwitness.report.sentences import join_names
from earwitness.studies.study import Study, StudyBlock
from earwitness.studies.trials import block_kind, study_kinds
from earwitness.studies.trials.base import TrialKind

DEVICE_STEP_WORDING = {
    "level": "set a comfortable volume",
    "sides": "checked the left and right channels",
    "huggins": "took a headphone test (Huggins pitch)",
    "antiphase": "took a headphone test (antiphase tones)",
}
REQUIRED_CHECK_WORDING = {
    "sides": "the check of channels",
    "huggins": "the Huggins pitch test",
    "antiphase": "the antiphase test",
}


def study_procedure(study: Study, imported: Sequence[bool] = (), listeners: int = 0) -> Procedure:
    """Return how a study is run: protocol, design, order and playback.

    ``imported`` tells for each of the ``listeners`` with answers from paper whether all are.
    """
    if imported and sum(imported) == listeners:  # without practice
        study = replace(study, training=0, anchors=(), before=())
    blocks = [(block, block_kind(block)) for block in study.blocks]
    orders = "The order of trials was that of the playlist."
    if not study.plans:
        first = ["All listeners took the blocks in the same order."] if len(blocks) > 1 else []
        each = dict.fromkeys(_order_sentence(study, block) for block in study.blocks)
        orders = " ".join([*first, *each])
    protocols = dict.fromkeys(kind.describe_protocol() for _, kind in blocks)
    return Procedure(
        f"The protocol was {', followed by '.join(protocols)}.",
        " ".join(_design_sentences(study)),
        orders,
        " ".join(_playback_sentences(study, imported, listeners)),
    )


def _design_sentences(study: Study) -> Iterator[str]:
    if study.plans:
        counts = sorted({sum(map(len, plan.sessions)) for plan in study.plans})
        trials = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
        yield f"Each listener heard {trials} trials of a playlist that was prepared beforehand."
    else:
        for number, block in enumerate(study.blocks, 1):
            where = f" in block {number}" if len(study.blocks) > 1 else ""
            yield f"Each listener heard {_heard_clause(study, block)}{where}."
        yield from _panel_sentences(study)
    if study.juries:
        yield f"Listeners belonged to the juries {join_names([j.name for j in study.juries])}."
    first = [f"practised with {count_text(study.training, 'trial')}"] if study.training else []
    first += [f"rated {count_text(len(study.anchors), 'anchor')}"] if study.anchors else []
    if first:
        verb = "was" if study.training + len(study.anchors) == 1 else "were"
        yield f"At first, listeners {join_names(first)}, which {verb} not analysed."
    if study.training and study.feedback:
        yield "After practice trials, they saw the expected answers."
    if asked := [question.name for question in study.before]:
        yield f"A form before listening asked for {join_names(asked)}."
    if any(question.eligible for question in study.before):
        yield "People whose answers did not meet the conditions of the study could not take part."
    quality = study.quality
    clips = [count_text(quality.gold, "gold clip")] if quality.gold else []
    clips += [count_text(quality.traps, "trapping clip")] if quality.traps else []
    if clips:
        yield (
            f"Each session contained {join_names(clips)} with known answers, which "
            f"{'was' if quality.gold + quality.traps == 1 else 'were'} not analysed."
        )
    if quality.repeats:
        yield (
            f"In each session, {100 * quality.repeats:g} % of the trials were presented a second "
            "time; the second ratings served to measure test–retest reliability only."
        )


def _heard_clause(study: Study, block: StudyBlock) -> str:
    count = len(block.systems)
    systems = f"all {count}" if block.heard >= count else f"{block.heard} of {count}"
    evenly = (
        ", so that systems and pairs of systems were heard about equally often"
        if block.heard < count
        else ""
    )
    trials = block.clips * block_kind(block).load(block.heard).trials
    has_rest = block.sessions > 1 and study.rest_minutes > 0
    rest = f" with breaks of {study.rest_minutes:g} min" if has_rest else ""
    return (
        f"{count_text(block.clips, 'clip')} by {systems} systems ({count_text(trials, 'trial')} "
        f"in {count_text(block.sessions, 'session')}{rest}){evenly}"
    )


def _panel_sentences(study: Study) -> Iterator[str]:
    count = len({clip.name for clip in study.material} - set(study.training_items))
    names, clips = [*study.categories, *study.numbers], f"the {count} clips"
    if study.panels > 1:
        how = f"matched in {join_names(names)}" if names else "drawn at random"
        yield (
            f"Listeners were assigned in turn to {study.panels} panels, each with its own subset "
            f"of {clips}, {how}."
        )
    elif any(block.clips < count for block in study.blocks):
        how = f"chosen to match all clips in {join_names(names)}" if names else "drawn at random"
        yield f"All listeners heard the same subset of {clips}, {how}."


def _order_sentence(study: Study, block: StudyBlock) -> str:
    kind = block_kind(block)
    treatments = kind.treatments(block.systems, study.reference)
    clauses = ["The order of trials was randomized for each listener"]
    if kind.within:
        clauses[0] += f", with clips of the same {kind.within} heard together"
    if len(treatments) > 1:
        clauses[0] += f" so that each {kind.compared} followed each other one about equally often"
    if len(kind.ways(treatments[0], np.random.default_rng(0))) > 1:
        what = (
            "captions"
            if kind.captioned
            else "sounds" + (" and the choice of X" if kind.unknown else "")
        )
        what = "summaries" if kind.transcribed else what
        clauses.append(f"the order of {what} within a trial was balanced over clips and listeners")
    if len(kind.scale_orders) > 1:
        orders = join_names(["–".join(order) for order in kind.scale_orders])
        halves = " and between halves of the sessions" if block.sessions > 1 else ""
        clauses.append(f"the orders {orders} of scales alternated between listeners{halves}")
    return f"{'; '.join(clauses)}."


def _playback_sentences(study: Study, imported: Sequence[bool], count: int) -> Iterator[str]:
    kinds = study_kinds(study)
    if imported:
        who = "All" if len(imported) == count else f"{len(imported)} of {count}"
        where = "in workbooks" if kinds[0].captioned else "on paper"
        partly = f", {len(imported) - sum(imported)} of them in part" if not all(imported) else ""
        yield f"{who} listeners answered {where}{partly}."
    if imported and sum(imported) == count:
        return
    others = "the other listeners" if imported else "listeners"
    if study.device:
        steps = join_names([DEVICE_STEP_WORDING[step] for step in study.device])
        yield f"Before the first trial, {others} {steps}."
    if study.device_required:
        tests = join_names([REQUIRED_CHECK_WORDING[step] for step in study.device_required])
        yield f"People who had not passed {tests} after {tries_text(study)} could not take part."
    if study.hearing is not None:
        yield (
            f"Before the first trial, {others} took a digit-triplet test in noise "
            f"({study.hearing.triplets} triplets, adaptive)."
        )
        if study.hearing.max_srt is not None:
            limit = short_number(study.hearing.max_srt)
            yield f"People with a speech reception threshold above {limit} dB could not take part."
    yield from dict.fromkeys(_playback_sentence(kind, others) for kind in kinds)


def _playback_sentence(kind: TrialKind, listeners: str) -> str:
    often = {0: "as often as they liked", 1: "once"}.get(kind.plays, f"up to {kind.plays} times")
    if not kind.plays_audio:
        return "Transcripts were read; no audio was played."
    if kind.captioned or kind.transcribed:
        accepted, played = "the clip had been played to the end", f"played it {often}"
    elif kind.switching:
        accepted = "every sound of the trial had been played to the end"
        played = f"switched freely between sounds and played each {often}"
    else:
        accepted = "the sounds had been played to the end for each question"
        played = f"played each sound {often}"
    return f"In the browser, answers were accepted after {accepted}; {listeners} {played}."


def tries_text(study: Study) -> str:
    """Return the number of tries of the device checks."""
    return f"{study.device_tries} {'tries' if study.device_tries > 1 else 'try'}"
