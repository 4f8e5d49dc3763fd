"""Trade-off curves from temporal consistency to source diversity over z."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.core import Estimate, Estimates
from earwitness.metric import mean_statistics, mean_values
from earwitness.report.parts import Section
from earwitness.skims.day import Doubles
from earwitness.skims.report import tradeoff_sections
from earwitness.skims.types import Dial, MeanTradeoffCurve, TradeoffPoint
from earwitness.stats.arrays import Floats, Hashes
from earwitness.stats.bootstrap import Bootstrap, bootstrap_estimates
from earwitness.task import CollectorSettings, ScoredBatch, TaskCollector

# --- Area and order over z -----------------------------------------------------------------------


MIN_CURVE_POINTS = 3  # z that a curve needs


class TradeoffFigures(NamedTuple):
    """Area below SD over TC, and Spearman's correlation of z with each of them."""

    area: float
    tc_with_z: float
    sd_with_z: float


def measure_curve(z: ArrayLike, tc: ArrayLike, sd: ArrayLike) -> TradeoffFigures:
    """What skims of one recording by one method say, each with another z.

    NaN where there are fewer than three z, or where one of them comes twice.
    """
    dial = np.asarray(z, np.float64)
    if len(dial) < MIN_CURVE_POINTS or len(np.unique(dial)) < len(dial):
        return TradeoffFigures(*(float("nan"),) * 3)
    return TradeoffFigures(
        area_below_curve(tc, sd), correlate_with_z(dial, tc), correlate_with_z(dial, sd)
    )


def area_below_curve(tc: ArrayLike, sd: ArrayLike) -> float:
    """The area below the curve of SD over TC, from TC 0 on; NaN where a point is missing.

    Points are joined by lines in the order of TC. Left of the first the curve goes on at its
    height, since less TC is easily had; right of the last there is nothing.
    """
    across, up = np.asarray(tc, np.float64), np.asarray(sd, np.float64)
    if not len(across) or not (np.isfinite(across).all() and np.isfinite(up).all()):
        return float("nan")
    order = np.lexsort((-up, across))
    across, up = across[order], up[order]
    return float(across[0] * up[0] + np.sum(np.diff(across) * (up[1:] + up[:-1]) / 2))


def correlate_with_z(z: ArrayLike, measured: ArrayLike) -> float:
    """Spearman's rank correlation of z with what was measured; NaN where either stays the same."""
    from scipy.stats import rankdata

    first, second = np.asarray(z, np.float64), np.asarray(measured, np.float64)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return float("nan")
    return _pearson(rankdata(first), rankdata(second))


def _pearson(first: Doubles, second: Doubles) -> float:
    x, y = first - first.mean(), second - second.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else float("nan")


# --- Trade-off collector -------------------------------------------------------------------------
# Of a case no more is kept than its item's hash, method, z, TC and SD. Lines may come in any order.


class TradeoffRows(NamedTuple):
    """Cases of a method: the hash of the item, z, and TC and SD, as often as there are metrics."""

    hashes: Hashes
    z: Floats
    values: Floats

    def split_items(self) -> list[TradeoffRows]:
        """Those of each item, where they are in the order of items."""
        starts = np.flatnonzero(np.diff(self.hashes)) + 1
        return [
            TradeoffRows(*parts) for parts in zip(*(np.split(x, starts) for x in self), strict=True)
        ]

    def of_metric(self, metric: int) -> TradeoffRows:
        """With TC and SD of one metric."""
        return self._replace(values=self.values[:, 2 * metric : 2 * metric + 2])

    @property
    def distinct_z(self) -> int:
        """How many z there are."""
        return len(np.unique(self.z))


@dataclass(frozen=True)
class TradeoffCurves:
    """Curves over z, as the part of a result that only skims have."""

    curves: tuple[MeanTradeoffCurve, ...]
    name: ClassVar[str] = "courses"

    def record(self) -> list[dict[str, Any]]:
        """All of them, for JSON."""
        return [asdict(curve) for curve in self.curves]

    def estimates(self) -> Iterator[tuple[str, str, Mapping[str, Estimates]]]:
        """Under the field (z), the metric as the group and the method as the system."""
        for curve in self.curves:
            yield "(z)", curve.family, {curve.method: curve.estimates}

    def sections(self) -> Iterator[Section]:
        """Tables and pictures, where there are curves."""
        return tradeoff_sections(self.curves) if self.curves else iter(())


@dataclass
class TradeoffCollector(TaskCollector):
    """Takes the dials of cases with their TC and SD."""

    settings: CollectorSettings
    bad: int = 0
    _methods: dict[str, list[TradeoffRows]] = field(default_factory=dict)

    def add(self, batch: ScoredBatch) -> None:
        """Cases that count and have a dial."""
        dials: list[Dial | None] = batch.measured.details
        if not dials:
            return
        groups: dict[str, list[tuple[int, float]]] = {}
        for place in batch.counted.tolist():
            dial = dials[place]
            if dial is None:
                continue
            if np.isnan(dial.z):
                self.bad += 1
            else:
                groups.setdefault(dial.method, []).append((place, dial.z))
        values = batch.values[
            :, [column for pair in self._column_pairs.values() for column in pair]
        ]
        for method, dialled in groups.items():
            index = np.array([place for place, _ in dialled])
            z = np.array([z for _, z in dialled], np.float64)
            rows = TradeoffRows(batch.measured.hashes[index], z, values[index])
            self._methods.setdefault(method, []).append(rows)

    @property
    def _column_pairs(self) -> dict[str, tuple[int, int]]:
        """The columns of TC and SD of every metric that has them."""
        columns, before = {}, 0
        for metric in self.settings.metrics.metrics:
            names = [value.name for value in metric.values]
            if {"tc", "sd"} <= {*names}:
                columns[metric.signature] = before + names.index("tc"), before + names.index("sd")
            before += len(names)
        return columns

    def _iterate_methods(self) -> Iterator[tuple[str, TradeoffRows]]:
        """All cases of each method, in the order of items and z."""
        for method, blocks in sorted(self._methods.items()):
            rows = TradeoffRows(*map(np.concatenate, zip(*blocks, strict=True)))
            order = np.lexsort((*rows.values.T, rows.z, rows.hashes))
            yield method, TradeoffRows(rows.hashes[order], rows.z[order], rows.values[order])

    def result(self, level: float) -> TradeoffCurves:
        """Of methods that have three z and more for at least one item."""
        return TradeoffCurves(
            tuple(
                self._mean_curve(family, method, rows.of_metric(metric), level)
                for metric, family in enumerate(self._column_pairs)
                for method, rows in self._iterate_methods()
                if _max_distinct_z(rows) >= MIN_CURVE_POINTS
            )
        )

    def _mean_curve(
        self, family: str, method: str, rows: TradeoffRows, level: float
    ) -> MeanTradeoffCurve:
        items = rows.split_items()
        table = np.array([measure_curve(item.z, *item.values.T) for item in items])
        hashes = np.array([item.hashes[0] for item in items])
        estimates = self._estimate_means(TradeoffFigures._fields, hashes, table, level)
        whole = np.repeat(~np.isnan(table[:, 0]), [len(item.z) for item in items])
        drawn = TradeoffRows(rows.hashes[whole], rows.z[whole], rows.values[whole])
        return MeanTradeoffCurve(family, method, estimates, tuple(self._curve_points(drawn, level)))

    def _curve_points(self, rows: TradeoffRows, level: float) -> Iterator[TradeoffPoint]:
        for z in np.unique(rows.z):
            at_z = rows.z == z
            means = self._estimate_means(("tc", "sd"), rows.hashes[at_z], rows.values[at_z], level)
            yield TradeoffPoint(float(z), means["tc"], means["sd"])

    def _estimate_means(
        self, names: Sequence[str], hashes: Hashes, table: Floats, level: float
    ) -> dict[str, Estimate]:
        """Means over items, with the bootstrap that all estimates have."""
        settings = self.settings
        bootstrap = Bootstrap(settings.draws, settings.seed, settings.limit)
        bootstrap.add(hashes, mean_statistics(table))
        total, draws, method = bootstrap.finish()
        undefined = np.isnan(table).sum(axis=0)
        counts = len(table) - undefined, undefined
        return bootstrap_estimates(
            names, mean_values(total), mean_values(draws), counts, level, method
        )

    def notes(self) -> Iterator[str]:
        """What is odd about z."""
        if self.bad:
            is_single = self.bad == 1
            outputs = "output has" if is_single else "outputs have"
            message = f"{self.bad:,} {outputs} a z in meta that is no number from 0 to 1"
            yield f"{message}: no curve over z has {'it' if is_single else 'them'}"
        method_rows = list(self._iterate_methods())
        for method, rows in method_rows:
            twice = sum(item.distinct_z < len(item.z) for item in rows.split_items())
            if twice:
                items = "item, which has" if twice == 1 else "items, which have"
                message = f'method "{method}" has a z twice for {twice:,} {items} no curve'
                yield f"{message} — tell methods apart in meta"
        different = {float(z) for _, rows in method_rows for z in rows.z}
        if len(different) >= MIN_CURVE_POINTS and all(
            _max_distinct_z(rows) < MIN_CURVE_POINTS for _, rows in method_rows
        ):
            message = "no method has three z for an item, so that there is no curve over z"
            yield f"{message} — name the method in meta"


def _max_distinct_z(rows: TradeoffRows) -> int:
    """How many z the item has that has most."""
    return max(item.distinct_z for item in rows.split_items())
