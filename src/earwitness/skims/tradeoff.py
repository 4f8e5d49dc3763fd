"""Trade-off curves between temporal consistency and source diversity, over z."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.core import Estimate, Estimates
from earwitness.metric import mean_statistics, mean_values
from earwitness.report.parts import Section
from earwitness.skims.report import tradeoff_sections
from earwitness.skims.types import Dial, MeanTradeoffCurve, TradeoffPoint
from earwitness.stats.arrays import Floats, Hashes
from earwitness.stats.bootstrap import Bootstrap, bootstrap_estimates
from earwitness.task import CollectorSettings, ScoredBatch, TaskCollector

# --- Area and order over z -----------------------------------------------------------------------


MIN_CURVE_POINTS = 3  # values of z


class TradeoffFigures(NamedTuple):
    """Area under the curve of SD against TC, and Spearman correlations of z with both."""

    area: float
    tc_with_z: float
    sd_with_z: float


def measure_curve(z: ArrayLike, tc: ArrayLike, sd: ArrayLike) -> TradeoffFigures:
    """Return the figures of skims of one recording by one method, at several values of z.

    NaN if there are fewer than three values of z, or if one occurs twice.
    """
    dial = np.asarray(z, np.float64)
    if len(dial) < MIN_CURVE_POINTS or len(np.unique(dial)) < len(dial):
        return TradeoffFigures(np.nan, np.nan, np.nan)
    return TradeoffFigures(
        area_below_curve(tc, sd), correlate_with_z(dial, tc), correlate_with_z(dial, sd)
    )


def area_below_curve(tc: ArrayLike, sd: ArrayLike) -> float:
    """Return the area under the curve of SD against TC, from TC 0; NaN if a point is missing.

    Points are joined by lines in the order of TC. Left of the first point the curve is constant,
    since a lower TC is easy to reach; right of the last point the area is 0.
    """
    across, up = np.asarray(tc, np.float64), np.asarray(sd, np.float64)
    if not len(across) or not (np.isfinite(across).all() and np.isfinite(up).all()):
        return np.nan
    order = np.lexsort((-up, across))
    across, up = across[order], up[order]
    return float(across[0] * up[0] + np.sum(np.diff(across) * (up[1:] + up[:-1]) / 2))


def correlate_with_z(z: ArrayLike, measured: ArrayLike) -> float:
    """Return Spearman's rank correlation of z with a measure; NaN if either is constant."""
    from scipy.stats import rankdata

    first, second = np.asarray(z, np.float64), np.asarray(measured, np.float64)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return np.nan
    x, y = (ranks - ranks.mean() for ranks in (rankdata(first), rankdata(second)))
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else np.nan


# --- Trade-off collector -------------------------------------------------------------------------
# Only item hash, method, z, TC and SD of each output are kept. Lines may come in any order.


class TradeoffRows(NamedTuple):
    """Cases of a method: item hash, z, and TC and SD with one column per metric."""

    hashes: Hashes
    z: Floats
    values: Floats

    def split_items(self) -> list[TradeoffRows]:
        """Return the rows of each item; rows must be sorted by item."""
        starts = np.flatnonzero(np.diff(self.hashes)) + 1
        return [
            TradeoffRows(*parts) for parts in zip(*(np.split(x, starts) for x in self), strict=True)
        ]

    def of_metric(self, metric: int) -> TradeoffRows:
        """Return the rows with TC and SD of one metric."""
        return self._replace(values=self.values[:, 2 * metric : 2 * metric + 2])

    @property
    def distinct_z(self) -> int:
        """Number of distinct values of z."""
        return len(np.unique(self.z))


@dataclass(frozen=True)
class TradeoffCurves:
    """Trade-off curves, the part of a result that only skims have."""

    curves: tuple[MeanTradeoffCurve, ...]
    name: ClassVar[str] = "courses"

    def record(self) -> list[dict[str, Any]]:
        """Return all curves for JSON."""
        return [asdict(curve) for curve in self.curves]

    def estimates(self) -> Iterator[tuple[str, str, Mapping[str, Estimates]]]:
        """Yield estimates with field (z), metric as group, and method as system."""
        for curve in self.curves:
            yield "(z)", curve.family, {curve.method: curve.estimates}

    def sections(self) -> Iterator[Section]:
        """Yield tables and figures, if there are curves."""
        return tradeoff_sections(self.curves) if self.curves else iter(())


@dataclass
class TradeoffCollector(TaskCollector):
    """Collects method, z, TC and SD of scored cases."""

    settings: CollectorSettings
    bad: int = 0
    _methods: dict[str, list[TradeoffRows]] = field(default_factory=dict)

    def add(self, batch: ScoredBatch) -> None:
        """Add the valid cases that have a z."""
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
        """Return the columns of TC and SD of every metric that has them."""
        columns, before = {}, 0
        for metric in self.settings.metrics.metrics:
            names = [value.name for value in metric.values]
            if {"tc", "sd"} <= {*names}:
                columns[metric.signature] = before + names.index("tc"), before + names.index("sd")
            before += len(names)
        return columns

    def _iterate_methods(self) -> Iterator[tuple[str, TradeoffRows]]:
        """Yield all cases of each method, sorted by item and z."""
        for method, blocks in sorted(self._methods.items()):
            rows = TradeoffRows(*map(np.concatenate, zip(*blocks, strict=True)))
            order = np.lexsort((*rows.values.T, rows.z, rows.hashes))
            yield method, TradeoffRows(rows.hashes[order], rows.z[order], rows.values[order])

    def result(self, level: float) -> TradeoffCurves:
        """Return curves of methods with three or more values of z for at least one item."""
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
        points = []
        for z in np.unique(drawn.z):
            hashes, values = drawn.hashes[drawn.z == z], drawn.values[drawn.z == z]
            means = self._estimate_means(("tc", "sd"), hashes, values, level)
            points.append(TradeoffPoint(float(z), means["tc"], means["sd"]))
        return MeanTradeoffCurve(family, method, estimates, tuple(points))

    def _estimate_means(
        self, names: Sequence[str], hashes: Hashes, table: Floats, level: float
    ) -> dict[str, Estimate]:
        """Return means over items, with the same bootstrap as all other estimates."""
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
        """Yield notes on invalid or missing values of z."""
        if self.bad:
            is_single = self.bad == 1
            outputs = "output has" if is_single else "outputs have"
            message = f"{self.bad:,} {outputs} a z in meta that is not a number from 0 to 1"
            yield f"{message}: left out of trade-off curves"
        method_rows = list(self._iterate_methods())
        for method, rows in method_rows:
            twice = sum(item.distinct_z < len(item.z) for item in rows.split_items())
            if twice:
                items = "item, which has" if twice == 1 else "items, which have"
                message = (
                    f'method "{method}" has a z twice for {twice:,} {items} no trade-off curve'
                )
                yield f"{message} — use different method names in meta"
        different = {float(z) for _, rows in method_rows for z in rows.z}
        if len(different) >= MIN_CURVE_POINTS and all(
            _max_distinct_z(rows) < MIN_CURVE_POINTS for _, rows in method_rows
        ):
            message = (
                "no method has three values of z for an item, so there are no trade-off curves"
            )
            yield f"{message} — name the method in meta"


def _max_distinct_z(rows: TradeoffRows) -> int:
    """Return the largest number of distinct z of any item."""
    return max(item.distinct_z for item in rows.split_items())
