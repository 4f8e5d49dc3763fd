"""Seven practice skims of a synthetic day, for learning TC and SD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError
from earwitness.skims.types import Pick, Skim
from earwitness.soundscapes.scene import Scene
from earwitness.soundscapes.timetable import named_generator
from earwitness.soundscapes.truth import (
    BACKGROUND_SOURCE,
    MIN_HEARD_SECONDS,
    Matrix,
    Truth,
    hour_spans,
    least_mean_path_costs,
    total_variation,
)
from earwitness.stats.arrays import Bools

# --- Course over hours ---------------------------------------------------------------------------
# Given the costs between hours and blocks, the optimal split and blocks are exact (Bellman).


Rows = NDArray[np.intp]  # indices of blocks


class DayPart(NamedTuple):
    """Hours that a pick represents, from the first up to but excluding the last."""

    first: int
    last: int


class HourCourse:
    """Costs of representing hours by blocks; a block may only represent hours around it."""

    def __init__(self, costs: Matrix, hour_of: NDArray[Any]) -> None:
        self._count = len(costs)
        self._hour_of = hour_of.astype(int)
        self._sums = np.concatenate([np.zeros((1, costs.shape[1])), np.cumsum(costs, axis=0)])

    def plain_rows(
        self, parts: Sequence[DayPart], heard: Bools, new_source_cost: float
    ) -> list[int]:
        """Return rows for the parts, with a cost per hour for a block with a new source."""
        is_new, rows = np.ones(heard.shape[1], bool), list[int]()
        for first, last in parts:
            inside = self._inside(first, last)
            mean_costs = (self._sums[last, inside] - self._sums[first, inside]) / (last - first)
            brings_new = (heard[inside] & is_new).any(1)
            rows.append(int(inside[int(np.argmin(mean_costs + new_source_cost * brings_new))]))
            is_new &= ~heard[rows[-1]]
        return rows

    def varied_rows(
        self, parts: Sequence[DayPart], heard: Bools, rng: np.random.Generator
    ) -> list[int]:
        """Return rows for the parts; in some of them, a random block with a new source."""
        is_new, rows = np.ones(heard.shape[1], bool), list[int]()
        for is_varied, part in zip(rng.random(len(parts)) < rng.random(), parts, strict=True):
            inside = self._inside(*part)
            new = inside[(heard[inside] & is_new).any(1)]
            rows.append(int(rng.choice(new)) if is_varied and len(new) else self._nearest(*part))
            is_new &= ~heard[rows[-1]]
        return rows

    def parts(self, count: int) -> list[DayPart]:
        """Return the parts of the day with the lowest total cost, one block for each."""
        hours = self._count
        cost = np.full((hours + 1, hours + 1), np.inf)
        for first in range(hours):
            for last in range(first + 1, hours + 1):
                row = self._nearest(first, last)
                cost[first, last] = self._sums[last, row] - self._sums[first, row]
        least, back = cost[0], list[Rows]()
        for _ in range(min(count, hours) - 1):
            sums = least[:, None] + cost
            back.append(sums.argmin(axis=0))
            least = sums.min(axis=0)
        ends = [hours]
        for table in reversed(back):
            ends.append(int(table[ends[-1]]))
        return [DayPart(*edges) for edges in pairwise([0, *reversed(ends)])]

    def _inside(self, first: int, last: int) -> Rows:
        return np.flatnonzero((self._hour_of >= first) & (self._hour_of < last))

    def _nearest(self, first: int, last: int) -> int:
        inside = self._inside(first, last)
        return int(inside[int(np.argmin(self._sums[last, inside] - self._sums[first, inside]))])


# --- Blocks and candidates -----------------------------------------------------------------------


BlockRows = list[int]
PICKS_PER_SKIM, BLOCK_SECONDS, OVERLAP_SECONDS = 12, 8.0, 3.0


class Candidate(NamedTuple):
    """Rows of the blocks of a possible skim, its true TC and its true SD."""

    rows: BlockRows
    tc: float
    sd: float


class DayBlocks:
    """All blocks of a day, and the sources in each."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.truth = scene, Truth(scene.events, scene.seconds)
        self.starts = np.arange(0, scene.seconds - BLOCK_SECONDS + 1e-9, BLOCK_SECONDS)
        spans = list(self.starts), list(self.starts + BLOCK_SECONDS)
        self.names = self.truth.names
        self.seconds, self.presence = self.truth.seconds(*spans), self.truth.presence(*spans)
        self.heard = self.seconds >= MIN_HEARD_SECONDS
        self.hours = self.truth.presence(*hour_spans(scene.seconds, scene.hour))
        self.hour_of = (self.starts // scene.hour).astype(int)
        self.costs = total_variation(self.hours, self.presence)

    def columns(self, names: Sequence[str]) -> list[int]:
        """Return the columns of these sources."""
        return [self.names.index(name) for name in names]

    def alone(self, name: str) -> Rows:
        """Return the rows of the blocks in which nothing but this source sounds."""
        others = np.delete(self.seconds, self.names.index(name), axis=1).sum(1)
        only = self.presence[:, self.names.index(name)] > 0.5
        return np.flatnonzero(only & (others < MAX_OTHER_SECONDS))

    def picks(self, rows: Sequence[int]) -> tuple[Pick, ...]:
        """Return the blocks in these rows as picks."""
        return tuple(Pick(float(self.starts[row]), BLOCK_SECONDS) for row in rows)

    def measure(self, many_rows: Sequence[BlockRows]) -> list[Candidate]:
        """Return skims of these blocks, in these orders, with their true TC and SD."""
        if not many_rows:
            return []
        table = np.array(many_rows)
        tc = 1 - least_mean_path_costs(np.moveaxis(self.costs[:, table], 0, 1))
        counted = self.columns(self.truth.sources)
        seconds = self.seconds[:, counted][table].sum(1)
        sd = (seconds >= MIN_HEARD_SECONDS - 1e-9).mean(1)
        return [
            Candidate(*measured)
            for measured in zip(many_rows, map(float, tc), map(float, sd), strict=True)
        ]

    def draw(self, *groups: tuple[Rows, int], label: str) -> list[BlockRows]:
        """Return random skims with the given number of blocks of each group of rows.

        There are ``DRAWN_CANDIDATES`` of them in chronological order; none if a group is too small.
        """
        if any(len(rows) < count for rows, count in groups):
            return []
        rng = named_generator(self.scene.seed, label)
        drawn = (
            np.concatenate([rng.choice(rows, count, replace=False) for rows, count in groups])
            for _ in range(DRAWN_CANDIDATES)
        )
        return [sorted(map(int, rows)) for rows in drawn]


# --- Practice skims ------------------------------------------------------------------------------
# Practice skims are chosen with the truth about the day: one source in many variants; many sources;
# one steady source only; the steady source and the background; the course of the day; a compromise;
# and the compromise in another order. For each there are candidates, of which those are chosen that
# have the places on the plane which their explanations state.


BIRD_SOURCES = ("birds", "chorus", "rooster", "owl", "cuckoo", "crow")
STEADY_SOURCE = "wind"  # preferred for the skims of one steady source
MAX_OTHER_SECONDS = 0.05  # of other sources, in a block in which one sounds alone
MIN_KIND_PICKS = 4  # of the steady source and of the background, if both are heard
DRAWN_CANDIDATES = 100
TRIED_ORDERS = 200  # random orders tried to find the worst
SMALL_STEP = 0.05  # "slightly", in TC
# per hour, tried to keep new sources out of the course
NEW_SOURCE_COSTS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5)
SMALL_LEAN = 0.1  # of the compromise towards TC, as difference of the shares of the maxima


@dataclass(frozen=True)
class PracticeSkim:
    """A practice skim with its title, true TC and SD, audible sources, and explanation."""

    title: str
    skim: Skim
    tc: float
    sd: float
    heard: tuple[str, ...]
    reason: str


def make_practice_skims(scene: Scene, language: str = "en") -> tuple[PracticeSkim, ...]:
    """Return the seven practice skims, in the order of presentation.

    Reasons are in one of the languages of ``REASONS``.

    Raises
    ------
    UsageError
        If the day has no skims that differ as the seven should.
    """
    blocks = DayBlocks(scene)
    diverse = _find_diverse(blocks)
    parts, course, balanced = _find_course_and_compromise(blocks, diverse)
    steady_source, steady, quiet = _find_steady_and_quiet(blocks, course)
    main_sources, forms, chosen_diverse = _find_forms(blocks, diverse, steady, course, balanced)
    rng = named_generator(scene.seed, "orders")
    orders = [rng.permutation(PICKS_PER_SKIM) for _ in range(TRIED_ORDERS)]
    rows = [balanced.rows[::-1], *([balanced.rows[n] for n in order] for order in orders)]
    reordered = min(blocks.measure(rows), key=lambda one: one.tc)  # the worst order
    text = ReasonText(blocks, language)
    plans = [
        (text.forms_title(forms, main_sources), forms, text.forms(forms, main_sources)),
        ("many sources", chosen_diverse, text.diverse(chosen_diverse)),
        (f"{steady_source} only", steady, text.steady(steady_source)),
        (f"{steady_source} and background", quiet, text.quiet(steady_source)),
        ("the course of the day", course, text.course(parts)),
        ("a compromise of both", balanced, text.say("balanced", balanced)),
        ("the compromise, reordered", reordered, text.reordered(reordered)),
    ]
    skims = []
    for title, (places, tc, sd), reason in plans:
        skim = Skim(blocks.picks(places), OVERLAP_SECONDS)
        skims.append(PracticeSkim(title, skim, tc, sd, blocks.truth.heard(skim.picks), reason))
    return tuple(skims)


def _find_diverse(blocks: DayBlocks) -> list[Candidate]:
    """Return skims with as many sources as possible: the highest SD of all that were tried."""
    rng = named_generator(blocks.scene.seed, "diverse")
    own_costs = blocks.costs[blocks.hour_of, np.arange(len(blocks.starts))]
    weights = [0.0, *rng.uniform(-1, 1, DRAWN_CANDIDATES)]
    tried = blocks.measure([_cover_sources(blocks, weight * own_costs) for weight in weights])
    best_sd = max(candidate.sd for candidate in tried)
    return [candidate for candidate in tried if candidate.sd == best_sd]


def _cover_sources(blocks: DayBlocks, preference: Matrix) -> BlockRows:
    """Return blocks that each add the most new sources, then those with the most sources.

    Among equal ones, the block with the highest preference (below 1) is chosen.
    """
    heard = blocks.heard[:, blocks.columns(blocks.truth.sources)]
    is_new, rows = np.ones(heard.shape[1], bool), list[int]()
    for _ in range(PICKS_PER_SKIM):
        new = (heard & is_new).sum(1)
        worth = new + 0.5 * preference + (0.0 if new.any() else heard.sum(1))
        worth[rows] = -np.inf
        rows.append(int(worth.argmax()))
        is_new &= ~heard[rows[-1]]
    return sorted(rows)


def _find_course_and_compromise(
    blocks: DayBlocks, diverse: Sequence[Candidate]
) -> tuple[list[DayPart], Candidate, Candidate]:
    """Return the parts of the day, the skim that follows them, and one with more sources.

    The compromise has less TC than the first and less SD than the diverse skims; relative to these
    maxima, it leans slightly towards TC.
    """
    course = HourCourse(blocks.costs, blocks.hour_of)
    rng = named_generator(blocks.scene.seed, "compromise")
    parts, max_sd = course.parts(PICKS_PER_SKIM), diverse[0].sd
    rows = [course.varied_rows(parts, blocks.heard, rng) for _ in range(DRAWN_CANDIDATES)]
    varied = blocks.measure(rows)
    plain_rows = [course.plain_rows(parts, blocks.heard, cost) for cost in NEW_SOURCE_COSTS]
    for best in blocks.measure(plain_rows):
        leans = {
            candidate.tc / best.tc - candidate.sd / max_sd: candidate
            for candidate in varied
            if candidate.tc < best.tc - SMALL_STEP and best.sd < candidate.sd < max_sd
        }
        towards_tc = [lean for lean in leans if lean > 0]
        if towards_tc:
            return parts, best, leans[min(towards_tc, key=lambda lean: abs(lean - SMALL_LEAN))]
    raise _refusal("no skim has SD between those of the course of the day and of many sources")


def _find_steady_and_quiet(
    blocks: DayBlocks, course: Candidate
) -> tuple[str, Candidate, Candidate]:
    """Return a steady source, a skim of it alone, and one of it and the background.

    Wind is tried first, then other continuous sources, calls, and birds, the least present first.
    """
    quiet_rows = blocks.alone(BACKGROUND_SOURCE)
    presence = dict(zip(blocks.names, blocks.hours.sum(0), strict=True))

    def rank(name: str) -> tuple[bool, bool, bool, float]:
        calls = not blocks.scene.sources[name].lasts
        return name != STEADY_SOURCE, name in BIRD_SOURCES, calls, presence[name]

    for name in sorted(blocks.names[:-1], key=rank):
        rows = blocks.alone(name)
        if len(rows) < PICKS_PER_SKIM:
            continue
        evenly = np.linspace(0, len(rows) - 1, PICKS_PER_SKIM).round().astype(int)
        (steady,) = blocks.measure([[int(row) for row in rows[evenly]]])
        mixed = [
            drawn
            for count in range(MIN_KIND_PICKS, PICKS_PER_SKIM - MIN_KIND_PICKS + 1)
            for drawn in blocks.draw(
                (rows, count), (quiet_rows, PICKS_PER_SKIM - count), label="quiet"
            )
        ]
        both = [
            candidate for candidate in blocks.measure(mixed) if steady.tc < candidate.tc < course.tc
        ]
        if both:
            return name, steady, max(both, key=lambda one: one.tc)
    raise _refusal(
        f"no source sounds alone in {PICKS_PER_SKIM} blocks of {BLOCK_SECONDS:g} s and is less "
        "present than the background"
    )


def _find_forms(
    blocks: DayBlocks,
    diverse: Sequence[Candidate],
    steady: Candidate,
    course: Candidate,
    balanced: Candidate,
) -> tuple[tuple[str, ...], Candidate, Candidate]:
    """Return a group of sources, a skim with it in every block, and a diverse one with less TC."""
    birds = tuple(name for name in BIRD_SOURCES if name in blocks.names)
    by_presence = [blocks.names[n] for n in np.argsort(-blocks.hours[:, :-1].sum(0))]
    for names in [*([birds] if birds else []), *((name,) for name in by_presence)]:
        rows = np.flatnonzero(blocks.heard[:, blocks.columns(names)].any(1))
        drawn = blocks.measure(blocks.draw((rows, PICKS_PER_SKIM), label="forms"))
        pairs = [
            (candidate, other)
            for candidate in drawn
            for other in diverse
            if steady.sd < candidate.sd < other.sd
            and steady.tc < other.tc < min(candidate.tc, balanced.tc)
            and candidate.tc < min(course.tc, other.tc + 2 * SMALL_STEP)
        ]
        if pairs:
            return names, *min(pairs, key=lambda pair: abs(pair[0].tc - pair[1].tc - SMALL_STEP))
    raise _refusal("no skim of one source has more TC and less SD than a skim of many sources")


def _refusal(message: str) -> UsageError:
    return UsageError(
        f"this day cannot have seven practice skims: {message} — use another seed or timetable"
    )


# --- Reasons -------------------------------------------------------------------------------------
# Explanations state what is counted in the day and in the skim, so they are true of every day.


HOUR_SECONDS = 3600.0
REASONS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "forms": "Heard in every block: {kinds}. This gives some SD ({heard} of {sources} "
        "sources), but the day has other sources, too. TC is not very high",
        "forms_where": ": in {count} of {hours} hours, another source is the most present one",
        "hour": "An hour of this short day lasts {seconds:g} s.",
        "diverse": "SD is the highest of all: {heard} of {sources} sources. TC is slightly lower "
        "than that of skim 1",
        "diverse_where": ": in {count} of {blocks} blocks, the most present source is not that of "
        "the hour",
        "steady": "Nothing but {name} is heard, so SD is low. TC is low, too: {name} is the most "
        "present source of {where}.",
        "steady_hours": "only {count} of {hours} hours",
        "steady_never": "no hour",
        "quiet": "The background, where nothing else sounds, is a source of its own: with {name}, "
        "two are heard, so SD is slightly higher than that of skim 3. TC is higher, too: the "
        "background is more present than {name} in {count} of {hours} hours.",
        "course": "TC is the highest of all: each block is close to what is most present in its "
        "part of the day, in the order of the day.",
        "course_parts": "Where the day changes, there are more blocks: a block represents {least} "
        "to {most} hours.",
        "balanced": "A compromise with moderate TC and SD: the skim follows the day and, in some "
        "parts of it, has a block with a source that has not been heard yet ({heard} of {sources} "
        "sources). Relative to the highest TC and SD of all skims, it leans slightly more towards "
        "TC than towards SD.",
        "reordered": "SD is exactly that of skim 6, since the blocks are the same. TC is lower, "
        "because they are not in the order of the day: the first block comes from hour {first}, "
        "the last one from hour {last}.",
        "or": " or ",
    },
    "fr": {
        "forms": "Dans chaque bloc, on entend\xa0: {kinds}. Cela donne une certaine SD ({heard} "
        "sources sur {sources}), mais la journée a aussi d’autres sources. La TC n’est pas très "
        "élevée",
        "forms_where": "\xa0: pendant {count} heures sur {hours}, une autre source est la plus "
        "présente",
        "hour": "Une heure de cette courte journée dure {seconds:g} s.",
        "diverse": "La SD est la plus élevée de toutes\xa0: {heard} sources sur {sources}. La TC "
        "est un peu plus faible que celle du résumé 1",
        "diverse_where": "\xa0: dans {count} blocs sur {blocks}, la source la plus présente n’est "
        "pas celle de l’heure",
        "steady": "On n’entend qu’une source ({name}), donc la SD est faible. La TC est faible, "
        "elle aussi\xa0: cette source est la plus présente pendant {where}.",
        "steady_hours": "seulement {count} heures sur {hours}",
        "steady_never": "aucune heure",
        "quiet": "Le fond sonore, là où rien d’autre ne sonne, est une source à part entière\xa0: "
        "avec l’autre ({name}), on en entend deux, donc la SD est un peu plus élevée que celle du "
        "résumé 3. La TC est plus élevée, elle aussi\xa0: le fond sonore est plus présent que "
        "l’autre source pendant {count} heures sur {hours}.",
        "course": "La TC est la plus élevée de toutes\xa0: chaque bloc est proche de ce qui est le "
        "plus présent dans sa partie de la journée, dans l’ordre chronologique.",
        "course_parts": "Là où la journée change, il y a plus de blocs\xa0: un bloc représente de "
        "{least} à {most} heures.",
        "balanced": "Un compromis avec une TC et une SD moyennes\xa0: le résumé suit la journée et "
        "contient, dans certaines parties, un bloc avec une source qui n’a pas encore été entendue "
        "({heard} sources sur {sources}). Par rapport aux valeurs les plus élevées de tous les "
        "résumés, il est un peu plus proche de celle de la TC que de celle de la SD.",
        "reordered": "La SD est exactement celle du résumé 6, puisque les blocs sont les mêmes. La "
        "TC est plus faible, car ils ne sont pas dans l’ordre chronologique\xa0: le premier bloc "
        "vient de l’heure {first}, le dernier de l’heure {last}.",
        "or": " ou ",
    },
}
# names in the presets; other languages and sources keep their English names
SOURCE_NAMES: Mapping[str, Mapping[str, str]] = {
    "fr": {
        "aeroplane": "avion",
        "babble": "brouhaha",
        "background": "fond sonore",
        "bees": "abeilles",
        "bells": "cloches",
        "bicycle": "vélo",
        "birds": "oiseaux",
        "brook": "ruisseau",
        "car": "voiture",
        "chorus": "chœur de l’aube",
        "crickets": "grillons",
        "crow": "corneille",
        "cuckoo": "coucou",
        "dog": "chien",
        "footsteps": "pas",
        "frogs": "grenouilles",
        "hammer": "marteau",
        "machine": "machine",
        "motorbike": "moto",
        "owl": "chouette",
        "rain": "pluie",
        "rooster": "coq",
        "saw": "scie",
        "siren": "sirène",
        "thunder": "tonnerre",
        "train": "train",
        "voice": "voix",
        "wind": "vent",
    }
}


class ReasonText:
    """Explanations of the places of the seven skims of a day, in a language of ``REASONS``."""

    def __init__(self, blocks: DayBlocks, language: str = "en") -> None:
        self._blocks = blocks
        self._texts = REASONS[language]
        self._names = SOURCE_NAMES.get(language, {})
        self._most_present = blocks.hours.argmax(1)
        self._hours = len(blocks.hours)

    def forms_title(self, skim: Candidate, names: Sequence[str]) -> str:
        """Return the English title of a skim with one kind of source in every block."""
        heard = self._heard(skim, names)
        return "birds of several kinds" if len(heard) > 1 else f"{heard[0]} in every block"

    def forms(self, skim: Candidate, names: Sequence[str]) -> str:
        """Return the explanation of a skim with one kind of source in every block."""
        others = int((~np.isin(self._most_present, self._blocks.columns(names))).sum())
        *first, last = (self._name(name) for name in self._heard(skim, names))
        kinds = self._texts["or"].join([*([", ".join(first)] if first else []), last])
        text = self.say("forms", skim, kinds=kinds) + self._where("forms_where", others)
        seconds = self._blocks.scene.hour
        return text if seconds == HOUR_SECONDS else f"{text} {self.say('hour', seconds=seconds)}"

    def diverse(self, skim: Candidate) -> str:
        """Return the explanation of a skim with many sources."""
        blocks = self._blocks
        own = blocks.presence[skim.rows].argmax(1)
        others = int((own != self._most_present[blocks.hour_of[skim.rows]]).sum())
        return self.say("diverse", skim) + self._where("diverse_where", others)

    def steady(self, name: str) -> str:
        """Return the explanation of a skim of one source."""
        hours = int((self._most_present == self._blocks.names.index(name)).sum())
        where = self.say("steady_hours" if hours else "steady_never", count=hours)
        return self.say("steady", name=self._name(name), where=where)

    def quiet(self, name: str) -> str:
        """Return the explanation of a skim of one source and the background."""
        share = self._blocks.hours
        quieter = int((share[:, -1] > share[:, self._blocks.names.index(name)]).sum())
        return self.say("quiet", name=self._name(name), count=quieter)

    def course(self, parts: Sequence[DayPart]) -> str:
        """Return the explanation of a skim that follows the day."""
        lengths = [last - first for first, last in parts]
        least, most, text = min(lengths), max(lengths), self.say("course")
        if least == most:
            return text
        return f"{text} {self.say('course_parts', least=least, most=most)}"

    def reordered(self, skim: Candidate) -> str:
        """Return the explanation of the compromise in another order."""
        first, last = (self._blocks.hour_of[skim.rows[n]] + 1 for n in (0, -1))
        return self.say("reordered", first=first, last=last)

    def _heard(self, skim: Candidate, names: Sequence[str]) -> list[str]:
        heard = self._blocks.truth.heard(self._blocks.picks(skim.rows))
        return [name for name in heard if name in names]

    def _name(self, source: str) -> str:
        return self._names.get(source, source)

    def say(self, text: str, skim: Candidate | None = None, **values: object) -> str:
        """Return a text with its values, and with the number of sources of a skim."""
        sources = len(self._blocks.truth.sources)
        heard = 0 if skim is None else round(skim.sd * sources)
        counts = {"sources": sources, "heard": heard, "hours": self._hours}
        return self._texts[text].format(blocks=PICKS_PER_SKIM, **counts, **values)

    def _where(self, text: str, count: int) -> str:
        """Return the end of a sentence: where a fact holds, if it does anywhere."""
        return f"{self.say(text, count=count) if count else ''}."
