"""Outputs, references of several people, and judgements of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from earwitness.analysis.prepare import resolve_repeats
from earwitness.analysis.rating_set import TableOptions, read_tables
from earwitness.analysis.settings import AnalysisSettings, describe_scale
from earwitness.core import Cases, Input, Key, Score, Value, group_values, no_progress
from earwitness.engines.local import in_process
from earwitness.errors import UsageError, nearest
from earwitness.experiments.people_orders import ItemCasesOfSystems
from earwitness.experiments.simulate import SIMULATED_FIELD
from earwitness.io.source import TableInput, table_inputs
from earwitness.metaeval.join import MetricColumn, join_scores_and_ratings
from earwitness.metaeval.levels import cell_means
from earwitness.metric_set import MetricChoice
from earwitness.scoring.join import References
from earwitness.scoring.measure import RunSettings
from earwitness.scoring.results import find_values
from earwitness.scoring.run import ScoringRun
from earwitness.scoring.score import Place, refuse_separation, sources
from earwitness.scoring.setup import Setup, find_task, first_lines, set_up
from earwitness.stats.arrays import Ints
from earwitness.stats.votes import Votes
from earwitness.task import Collector, CollectorSettings, Filter, ScoredBatch, Slicing

PAPER_METRICS = ("sumaccy", "bleu")
PAPER_VALUES = ("sumaccy", "bleu", "wsumaccy")  # in the order of the figures


# --- Outputs and references -----------------------------------------------------------------------


@dataclass(frozen=True)
class ExperimentData:
    """Outputs with their references, systems, items and people of an experiment.

    ``tasks`` has the cases of every item, those of each system that is also a person apart.
    ``unreferenced`` are items with outputs that nobody has made a reference of; they are left out.
    ``simulated`` describes the simulator that wrote the references, if one did.
    """

    setup: Setup
    values: tuple[Value, ...]
    references: References
    systems: tuple[str, ...]
    human: str
    items: tuple[str, ...]
    people: tuple[str, ...]
    tasks: tuple[ItemCasesOfSystems, ...]
    inputs: tuple[Input, ...]
    notes: tuple[str, ...]
    simulated: str = ""
    unreferenced: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the values."""
        return tuple(value.name for value in self.values)

    @property
    def signature(self) -> str:
        """Metrics, values and human system; the list of settings is left open."""
        setup = self.setup
        return (
            f"{setup.metrics.signature}{setup.reader.signature}"
            f"|references(values={'+'.join(self.names)},human={self.human or 'none'}"
        )

    @property
    def human_number(self) -> int:
        """Number of the human system, or -1."""
        return self.systems.index(self.human) if self.human else -1

    @property
    def groups(self) -> list[list[int]]:
        """People that are left out of the references of a group of systems."""
        return [[], *([self.people.index(name)] for name in self.own_people)]

    @property
    def own_people(self) -> list[str]:
        """Systems that are also people."""
        return [name for name in self.systems if name in self.people]

    @property
    def is_complete(self) -> bool:
        """Whether all people made references of all items."""
        rows = (self.references.rows[item] for item in self.items)
        return all(len(self.references.annotators[row]) == len(self.people) for row in rows)

    def count_without(self, groups: Ints) -> float:
        """Return the mean number of items that nobody of a group did; groups are rows of people."""
        made = [self.references.annotators[self.references.rows[item]] for item in self.items]
        done = np.array([[name in annotators for annotators in made] for name in self.people])
        return float((~done[groups].any(axis=1)).sum(axis=1).mean())

    def key(self, signature: str) -> str:
        """Return what identifies the scores of an experiment: inputs, items and settings."""
        return "|".join([signature, *(input.sha256 for input in self.inputs), *self.items])


class KeptCases(Collector):
    """Collector of the cases themselves."""

    def __init__(self) -> None:
        self.batches = list[Cases]()

    def add(self, batch: ScoredBatch) -> None:
        assert batch.measured.cases is not None, "the run keeps cases"
        self.batches.append(batch.measured.cases.take(batch.counted))


def read_data(
    outputs: Place,
    references: Place,
    metrics: MetricChoice | None,
    values: Sequence[str] | str | None,
    human: str,
    where: Filter,
    parameters: dict[str, Any],
) -> ExperimentData:
    source, other = sources(outputs, references)
    assert other is not None
    if metrics is None:
        task = find_task(first_lines(source, other))
        metrics = PAPER_METRICS if task is not None and task.name == "summaries" else None
    setup = set_up(source, other, metrics, parameters)
    refuse_separation(setup)
    kept = KeptCases()
    run = ScoringRun(
        RunSettings(
            metrics=setup.metrics,
            reader=setup.reader,
            on_error="fail",
            seed=0,
            by=(Slicing("item"),),  # keeps the meta fields
            where=where,
            keep_cases=True,
            ceiling=False,
            is_partial=True,  # practice items have outputs, but no references
        ),
        (kept,),
        CollectorSettings(setup.metrics, 1, 0, 1),
    )
    run.read(source, other, None, in_process, no_progress)
    found = run.references
    assert found is not None
    batches = [(cases, list(cases.systems)) for cases in kept.batches]
    systems = list(dict.fromkeys(name for _, batch_systems in batches for name in batch_systems))
    if human and human not in systems:
        batches.append(_person_as_system(found, human))
        systems.append(human)
    elif human and human not in found.people:
        raise UsageError(
            f'human: "{human}" is not an annotator — {nearest(human, sorted(found.people))}'
        )
    own = [name for name in systems if name in found.people]
    human = human or (own[0] if len(own) == 1 else "")
    answered = {item for cases, _ in batches for item in cases.items}
    items = tuple(item for item in found.rows if item in answered)
    names = {name for item in items for name in found.annotators[found.rows[item]]}
    people = tuple(sorted(names, key=lambda name: (len(name), name)))  # 10 is behind 9
    if len(people) < 2:
        raise UsageError("at least two people are required, who made references of the items")
    data = ExperimentData(
        setup=setup,
        values=_select_values(setup, values),
        references=found,
        systems=tuple(systems),
        human=human,
        items=items,
        people=people,
        tasks=(),
        inputs=run.provenance.inputs,
        unreferenced=frozenset(run.unreferenced),
        notes=tuple(run.notes()),
        simulated=next((str(m[SIMULATED_FIELD]) for m in found.metas if SIMULATED_FIELD in m), ""),
    )
    return replace(data, tasks=tuple(_tasks(data, batches)))


def _select_values(setup: Setup, names: Sequence[str] | str | None) -> tuple[Value, ...]:
    """Return the named values, or those of the paper and the main values of other metrics."""
    known = {value.name: value for value in setup.metrics.values}
    paper = filter(known.__contains__, (*PAPER_VALUES, *setup.metrics.leading))
    chosen = find_values(setup.metrics.values, names) or dict.fromkeys(paper)
    return tuple(known[name] for name in chosen)


def _person_as_system(references: References, name: str) -> tuple[Cases, list[str]]:
    """Return the references of a person as outputs, against those of all others."""
    cases, rows = references.cases.people()
    names = [person for annotator in references.annotators for person in annotator]
    places = np.array([place for place, row in enumerate(rows) if names[row] == name], np.int64)
    if not len(places):
        known = sorted(references.people)
        raise UsageError(f'human: nobody is named "{name}" — {nearest(name, known)}')
    return cases.take(places), [name] * len(places)


def _tasks(
    data: ExperimentData, batches: Sequence[tuple[Cases, list[str]]]
) -> Iterator[ItemCasesOfSystems]:
    """Yield the cases of every item, by group of systems."""
    numbers = {name: number for number, name in enumerate(data.people)}
    item_numbers = {name: number for number, name in enumerate(data.items)}
    system_numbers = {name: number for number, name in enumerate(data.systems)}
    groups = {name: group for group, name in enumerate(data.own_people, 1)}
    for cases, systems in batches:
        rows = group_values(
            ((groups.get(system, 0), item), row)
            for row, (item, system) in enumerate(zip(cases.items, systems, strict=True))
            if item in item_numbers
        )
        for (group, item), item_rows in rows.items():
            made = data.references.others(item, systems[item_rows[0]])
            yield ItemCasesOfSystems(
                group,
                item_numbers[item],
                [system_numbers[systems[row]] for row in item_rows],
                np.array([numbers[name] for name in made], np.int64),
                cases.take(np.array(item_rows, np.int64)),
            )


# --- Judgements ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgements:
    """Votes of judges on the outputs of an experiment.

    ``votes`` numbers the judged ``systems`` and ``items``, which are numbers of the experiment.
    """

    votes: Votes
    systems: tuple[int, ...]
    items: tuple[int, ...]
    scale: Value
    inputs: tuple[Input, ...]
    notes: tuple[str, ...]

    def without(self, system: int) -> Judgements:
        """Return the votes on all other systems."""
        if system not in self.systems:
            return self
        place = self.systems.index(system)
        votes = self.votes.select(self.votes.systems != place)
        numbers = votes.systems - (votes.systems > place)
        size = (self.votes.size[0] - 1, *self.votes.size[1:])
        systems = tuple(other for other in self.systems if other != system)
        return replace(self, votes=replace(votes, systems=numbers, size=size), systems=systems)

    def means(self, names: Sequence[str]) -> dict[str, float]:
        """Return the mean judgement of each system by name."""
        means = np.nanmean(cell_means(self.votes)[0], axis=1)
        return {names[number]: float(m) for number, m in zip(self.systems, means, strict=True)}


def read_judgements(
    tables: TableInput | Sequence[TableInput], data: ExperimentData, scale: str
) -> Judgements | None:
    files = table_inputs(tables, "judgements")
    if not files:
        return None
    analysis = AnalysisSettings()
    material = read_tables(files, TableOptions(), analysis)
    left_out = data.references.filtered.items | data.unreferenced
    used = [rating for rating in material.ratings if rating.key.item not in left_out]
    ratings, _ = resolve_repeats(used, analysis.doubled)
    scales = list(dict.fromkeys(rating.scale for rating in ratings))
    if scale and scale not in scales:
        raise UsageError(f'no judgements on scale "{scale}" — {nearest(scale, scales)}')
    if not scale and len(scales) != 1:
        raise UsageError(f"judgements are on several scales: {', '.join(scales)} — name one")
    scale = scale or scales[0]
    outputs = [
        Score(Key(data.items[task.item], data.systems[system]), data.names[0], nan)
        for task in data.tasks
        for system in task.systems
    ]
    table = join_scores_and_ratings(
        outputs, [MetricColumn(data.names[0])], ratings, scale, data.systems
    )
    if table.paired:
        raise UsageError(f"{scale}: judgements must rate single outputs, not compare two")
    number_of = {name: number for number, name in enumerate(data.items)}
    described, note = analysis.named_scales.of(scale, ratings)
    return Judgements(
        table.votes,
        tuple(map(data.systems.index, table.systems)),
        tuple(number_of[name] for name in table.items),
        describe_scale(described),
        material.inputs,
        tuple(filter(None, (*material.notes, note, *table.notes))),
    )
