"""Figures of docs/statistics.md as SVG, drawn from the example data; `make docs` writes them.

Every figure is plain SVG text without fonts, scripts or links of its own, on a light card, so that
it can be read in light and dark mode.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

import earwitness
from earwitness.stats.contrasts import clustered_differences, two_way_differences
from earwitness.stats.significance import binomial_share
from earwitness.stats.votes import Votes

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
CHAPTERS = ROOT / "examples" / "chapters"
RATINGS = ROOT / "examples" / "ratings" / "ratings.csv"
CONCORDANCE = ROOT / "examples" / "agree" / "p835"
WIDTH, PAD = 720, 24
PAPER, INK, GREY, LINE = "#fcfaf6", "#1d1f24", "#5b616b", "#d9d6cf"
BLUE, RED, GREEN, PALE = "#0b63a5", "#a8401d", "#1c7c5a", "#bcd3e8"
DRAWS = 5000
Floats = NDArray[np.float64]


# --- SVG -----------------------------------------------------------------------------------------


class Drawing:
    """Shapes and texts of one figure."""

    def __init__(self, height: float, title: str) -> None:
        self.height, self.title = height, title
        self.shapes: list[str] = []

    def text(
        self, x: float, y: float, words: str, *, size: int = 14, fill: str = INK, **more: str
    ) -> None:
        """Write a line of text; its baseline is at y."""
        self._add("text", escape(words), x=x, y=y, font_size=size, fill=fill, **more)

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        stroke: str = LINE,
        width: float = 1,
        **more: str,
    ) -> None:
        """Draw a line."""
        self._add("line", "", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width, **more)

    def rect(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """Draw a filled rectangle."""
        self._add("rect", "", x=x, y=y, width=width, height=height, fill=fill)

    def dot(self, x: float, y: float, fill: str = BLUE, radius: float = 4.5) -> None:
        """Draw a filled circle."""
        self._add("circle", "", cx=x, cy=y, r=radius, fill=fill, fill_opacity="0.8")

    def _add(self, name: str, inner: str, **attributes: float | str) -> None:
        pairs = " ".join(f'{key.replace("_", "-")}="{_short(v)}"' for key, v in attributes.items())
        self.shapes.append(f"<{name} {pairs}>{inner}</{name}>" if inner else f"<{name} {pairs}/>")

    def svg(self) -> str:
        """Return the figure as a file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {_short(self.height)}" '
            f'width="{WIDTH}" height="{_short(self.height)}" role="img" '
            'font-family="system-ui, sans-serif">'
        )
        card = (
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{_short(self.height - 1)}" rx="10" '
            f'fill="{PAPER}" stroke="{LINE}"/>'
        )
        title = f"<title>{escape(self.title)}</title>"
        return "\n".join([head, title, card, *self.shapes, "</svg>"]) + "\n"


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{round(float(value), 1):g}"


class Axis:
    """A horizontal axis: numbers to pixels."""

    def __init__(self, low: float, high: float, left: float, right: float) -> None:
        self.low, self.high, self.left, self.right = low, high, left, right

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)

    def draw(self, on: Drawing, y: float, ticks: Iterable[float], label: str) -> None:
        """Draw the line with its ticks and label."""
        on.line(self.left, y, self.right, y, stroke=GREY)
        for tick in ticks:
            on.line(self(tick), y, self(tick), y + 5, stroke=GREY)
            words = f"{tick:g}".replace("-", "−")
            on.text(self(tick), y + 20, words, size=13, fill=GREY, text_anchor="middle")
        middle = (self.left + self.right) / 2
        on.text(middle, y + 40, label, size=13, fill=GREY, text_anchor="middle")


def histogram(on: Drawing, axis: Axis, values: Floats, base: float, height: float) -> None:
    """Draw bars; those outside the central 95 % are pale."""
    counts, edges = np.histogram(values, bins=40, range=(axis.low, axis.high))
    low, high = np.percentile(values, [2.5, 97.5])
    for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
        if count:
            tall = height * count / counts.max()
            inside = low <= (left + right) / 2 <= high
            x, width = axis(left), axis(right) - axis(left) - 1
            on.rect(x, base - tall, width, tall, BLUE if inside else PALE)


# --- Data of the examples ------------------------------------------------------------------------


@cache
def f1_by_system() -> Mapping[str, Floats]:
    """Return the F1 of every item, by system."""
    files = [str(CHAPTERS / f"{name}.jsonl") for name in ("outputs", "references")]
    scores = earwitness.score(*files, metrics="collar", worst=10**6)
    rows: dict[str, dict[str, float]] = {}
    for row in scores.worst:
        rows.setdefault(row.key.system, {})[row.key.item] = row.values["collar_f1"]
    return {name: np.array([found[item] for item in sorted(found)]) for name, found in rows.items()}


@cache
def votes(scale: str = "SIG") -> Mapping[tuple[str, str, str], float]:
    """Return votes on a scale by listener, system and item."""
    with RATINGS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["scale"] == scale]
    return {(row["listener"], row["system"], row["item"]): float(row["value"]) for row in rows}


@cache
def scores_and_ratings() -> Mapping[tuple[str, str], tuple[float, float]]:
    """Return the score of a metric and the mean OVRL rating, by system and item."""
    with (CONCORDANCE / "scores.csv").open(encoding="utf-8") as file:
        scores = {row["file"]: float(row["pesq"]) for row in csv.DictReader(file)}
    given: dict[str, list[float]] = {}
    with (CONCORDANCE / "ratings.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            given.setdefault(row["file"], []).append(float(row["OVRL"]))
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for name, score in scores.items():
        system, item = name.removesuffix(".wav").split("/", 1)
        found[system, item] = (score, float(np.mean(given[name])))
    return found


# --- Figures -------------------------------------------------------------------------------------


def bootstrap() -> Drawing:
    """Resampling of items, and the interval of a mean."""
    on = Drawing(336, "A bootstrap interval: the spread of means over resampled items")
    values = f1_by_system()["careful"]
    axis = Axis(0, 1, 60, WIDTH - 60)
    on.text(PAD, 34, f"1. One F1 per item ({len(values)} items); the line is their mean")
    for number, value in enumerate(sorted(values)):
        on.dot(axis(value), 62 + 7 * (number % 2))
    on.line(axis(values.mean()), 50, axis(values.mean()), 82, stroke=INK, width=2)
    rng = np.random.default_rng(0)
    means = values[rng.integers(0, len(values), (DRAWS, len(values)))].mean(axis=1)
    on.text(PAD, 116, f"2. Draw {len(values)} items with replacement, take their mean, repeat")
    histogram(on, axis, means, 280, 140)
    low, high = np.percentile(means, [2.5, 97.5])
    for end in (low, high):
        on.line(axis(end), 140, axis(end), 280, stroke=RED, width=2, stroke_dasharray="5 4")
    words = f"95 % interval: {low:.2f} to {high:.2f}"
    on.text(axis(low) - 10, 152, words, fill=RED, text_anchor="end")
    axis.draw(on, 282, (0, 0.2, 0.4, 0.6, 0.8, 1), "mean F1 of the system “careful”")
    return on


def permutation() -> Drawing:
    """Swapping the outputs of two systems item by item."""
    on = Drawing(376, "A paired permutation test: the observed difference among swapped ones")
    differences = f1_by_system()["careful"] - f1_by_system()["eager"]
    n = len(differences)
    axis = Axis(-1, 1, 60, WIDTH - 60)
    on.text(PAD, 34, f"1. Difference of F1 per item, careful − eager ({n} items)")
    on.line(axis(0), 46, axis(0), 100, stroke=LINE, width=2)
    for number, value in enumerate(sorted(differences)):
        on.dot(axis(value), 60 + 7 * (number % 4))
    on.text(PAD, 136, "2. If the systems were equally good, each difference could as well have")
    on.text(PAD + 18, 156, f"the other sign: the mean differences of all 2^{n} = {2**n:,} choices")
    signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    means = (signs * differences).mean(axis=1)
    histogram(on, axis, means, 320, 130)
    observed = differences.mean()
    on.line(axis(observed), 176, axis(observed), 320, stroke=RED, width=2)
    p = float((np.abs(means) >= abs(observed) - 1e-12).mean())
    on.text(axis(observed) - 10, 190, f"observed: {observed:.2f}", fill=RED, text_anchor="end")
    on.text(axis(observed) - 10, 210, f"p = {p:.4f}", fill=RED, text_anchor="end")
    axis.draw(on, 322, (-1, -0.5, 0, 0.5, 1), "mean difference of F1")
    return on


def holm() -> Drawing:
    """Holm's method on five p values."""
    on = Drawing(330, "Holm's method: the smallest p is multiplied by the number of tests")
    p_values = (0.001, 0.009, 0.013, 0.030, 0.200)
    columns = (PAD, 130, 270, 400, 540)
    heads = ("test", "p", "times", "p (Holm)", "at alpha = 0.05")
    for x, head in zip(columns, heads, strict=True):
        on.text(x, 40, head, fill=GREY)
    on.line(PAD, 52, WIDTH - PAD, 52)
    largest = 0.0
    for number, p in enumerate(p_values):
        y = 84 + 44 * number
        factor = len(p_values) - number
        largest = min(1.0, max(largest, p * factor))
        significant = largest < 0.05
        texts = (f"pair {number + 1}", f"{p:.3f}", f"× {factor}", f"{largest:.3f}")
        for x, words in zip(columns, texts, strict=False):
            on.text(x, y, words)
        verdict = "significant" if significant else "not significant"
        on.text(columns[-1], y, verdict, fill=GREEN if significant else RED)
        on.line(PAD, y + 16, WIDTH - PAD, y + 16)
    on.text(PAD, 310, "p values are sorted; a corrected p is never below the row above.", fill=GREY)
    return on


def per_listener() -> Drawing:
    """Differences of single votes, and the mean difference per listener."""
    listeners = sorted({key[0] for key in votes()}, key=int)
    items = sorted({key[2] for key in votes()})
    rows = [
        np.array([votes()[who, "noisy", item] - votes()[who, "gentle", item] for item in items])
        for who in listeners
    ]
    on = Drawing(
        150 + 22 * len(rows) + 60, "A test over listeners: one mean difference per listener"
    )
    axis = Axis(-3, 3, 130, WIDTH - 60)
    on.text(PAD, 34, "SIG, noisy − gentle: small dots are single items,")
    on.text(PAD, 54, "large dots are the mean of a listener")
    bottom = 76 + 22 * len(rows)
    on.line(axis(0), 66, axis(0), bottom + 34, stroke=LINE, width=2)
    for number, (who, row) in enumerate(zip(listeners, rows, strict=True)):
        y = 82 + 22 * number
        on.text(PAD, y + 5, f"listener {who}", size=13, fill=GREY)
        for place, value in enumerate(row):
            on.dot(axis(value) + 3 * (place - len(row) / 2), y, PALE, 2.5)
        on.dot(axis(row.mean()), y, BLUE, 5.5)
    means = np.array([row.mean() for row in rows])
    half = 2.201 * means.std(ddof=1) / np.sqrt(len(means))  # t for 11 degrees of freedom
    y = bottom + 22
    on.text(PAD, y + 5, "95 % interval", size=13, fill=RED)
    on.line(axis(means.mean() - half), y, axis(means.mean() + half), y, stroke=RED, width=3)
    on.dot(axis(means.mean()), y, RED, 5.5)
    axis.draw(on, bottom + 44, (-3, -2, -1, 0, 1, 2, 3), "difference of votes, in points")
    return on


def different_items() -> Drawing:
    """The difference of two systems with items of their own, and three intervals of it."""
    systems, given = ("noisy", "gentle"), votes("OVRL")
    items = sorted({key[2] for key in given})
    own = {name: items[place::2] for place, name in enumerate(systems)}
    listeners = sorted({key[0] for key in given}, key=int)
    rows = [
        (given[who, name, item], place, items.index(item), listeners.index(who))
        for place, name in enumerate(systems)
        for item in own[name]
        for who in listeners
    ]
    values, *codes = (np.array(column) for column in zip(*rows, strict=True))
    table = Votes(values, codes[0], codes[1], codes[2], (2, len(items), len(listeners)))
    on = Drawing(392, "Two systems with different items: intervals over listeners, items and both")
    axis = Axis(1, 5, 190, WIDTH - 60)
    on.text(PAD, 34, "OVRL: a small dot is the mean of a clip, a large dot that of a system")
    for place, name in enumerate(systems):
        y = 66 + 36 * place
        on.text(PAD, y + 5, f"{name}, {len(own[name])} clips", size=13, fill=GREY)
        means = [table.values[table.items == items.index(item)].mean() for item in own[name]]
        for mean in means:
            on.dot(axis(mean), y, PALE, 4)
        on.dot(axis(float(np.mean(means))), y, BLUE, 6)
    axis.draw(on, 128, (1, 2, 3, 4, 5), "mean vote")
    first, second = np.array([0]), np.array([1])
    one_way = [
        clustered_differences(table, clusters, first, second)
        for clusters in (table.listeners, table.items)
    ]
    both = two_way_differences(table, [(0, 1)])
    bars = [(np.sqrt(part.variance[0]), part.freedom[0]) for part in one_way]
    bars.append((both.error[0], both.freedom[0]))
    axis = Axis(-3, 1, 190, WIDTH - 60)
    names = ("other listeners", "other clips", "both (two-way)")
    on.text(PAD, 208, "95 % interval of the difference noisy − gentle, if these were drawn again")
    on.line(axis(0), 222, axis(0), 338, stroke=LINE, width=2)
    for number, (name, (error, freedom)) in enumerate(zip(names, bars, strict=True)):
        y, fill = 240 + 36 * number, RED if number == 2 else BLUE
        half = stdtrit(freedom, 0.975) * error
        on.text(PAD, y + 5, name, size=13, fill=GREY)
        on.line(axis(both.value[0] - half), y, axis(both.value[0] + half), y, stroke=fill, width=3)
        on.dot(axis(both.value[0]), y, fill, 5.5)
    axis.draw(on, 340, (-3, -2, -1, 0, 1), "difference of mean votes, in points")
    return on


def choices() -> Drawing:
    """Shares of choices per listener, and intervals over choices and over listeners."""
    wins, each = (8, 8, 8, 8, 7, 7, 6, 5, 3, 2, 1, 0), 8
    votes = [
        {"item": f"clip{clip}", "system": "A", "against": "B", "listener": who, "value": sign}
        for who, count in enumerate(wins, 1)
        for clip, sign in enumerate([1] * count + [-1] * (each - count))
    ]
    found = earwitness.study_analyse([vote | {"scale": "PREFERENCE"} for vote in votes])
    share = found.scales[0].choices[0].share
    pooled = binomial_share(sum(wins), each * len(wins))
    on = Drawing(150 + 22 * len(wins) + 30, "Choices: one share per listener")
    axis = Axis(0, 1, 210, WIDTH - 60)
    on.text(PAD, 34, "12 listeners choose between A and B for 8 clips: each dot is the share of A")
    bottom = 54 + 22 * len(wins)
    on.line(axis(0.5), 48, axis(0.5), bottom + 60, stroke=LINE, width=2)
    for number, count in enumerate(wins):
        y = 62 + 22 * number
        on.text(PAD, y + 5, f"listener {number + 1}", size=13, fill=GREY)
        on.line(axis(0), y, axis(count / each), y, stroke=PALE, width=3)
        on.dot(axis(count / each), y, BLUE, 5.5)
    for number, (label, own, fill) in enumerate(
        (("96 single choices", pooled, GREY), ("12 listeners", share, RED))
    ):
        y = bottom + 18 + 26 * number
        on.text(PAD, y + 5, label, size=13, fill=fill)
        on.line(axis(own.low), y, axis(own.high), y, stroke=fill, width=3)
        on.dot(axis(own.value), y, fill, 5.5)
    axis.draw(on, bottom + 74, (0, 0.25, 0.5, 0.75, 1), "share of A; 0.5 is chance")
    return on


def these_items() -> Drawing:
    """Differences per item, and intervals for these items and for others."""
    listeners, effects = 8, (1.5, 1.0, 0.75, 0.25, -0.25, -0.5)
    differences = np.array(
        [
            [effect + ((7 * who + 3 * number) % 5 - 2) / 4 for number, effect in enumerate(effects)]
            for who in range(listeners)
        ]
    )
    rows = [
        {"item": f"clip {item + 1}", "system": system, "listener": who + 1, "scale": "MOS"}
        | {"value": 3 + value * (system == "A")}
        for (who, item), value in np.ndenumerate(differences)
        for system in "AB"
    ]
    widths = {}
    for population in ("listeners", "items"):
        [contrast] = earwitness.study_analyse(rows, generalize=population).scales[0].contrasts
        widths[population] = contrast.difference
    on = Drawing(150 + 22 * len(effects) + 30, "These items or other items: differences per item")
    axis = Axis(-2, 2, 210, WIDTH - 60)
    on.text(PAD, 34, "A − B, 8 listeners and 6 clips: dots are mean differences per clip")
    bottom = 54 + 22 * len(effects)
    on.line(axis(0), 48, axis(0), bottom + 60, stroke=LINE, width=2)
    for number, value in enumerate(differences.mean(axis=0).tolist()):
        y = 62 + 22 * number
        on.text(PAD, y + 5, f"clip {number + 1}", size=13, fill=GREY)
        on.dot(axis(value), y, BLUE, 5.5)
    labels = {"listeners": ("these clips", GREY), "items": ("other clips, too", RED)}
    for number, (population, (label, fill)) in enumerate(labels.items()):
        y = bottom + 18 + 26 * number
        own = widths[population]
        on.text(PAD, y + 5, label, size=13, fill=fill)
        on.line(axis(own.low), y, axis(own.high), y, stroke=fill, width=3)
        on.dot(axis(own.value), y, fill, 5.5)
    axis.draw(on, bottom + 74, (-2, -1, 0, 1, 2), "difference of votes, in points")
    return on


def mixed_model() -> Drawing:
    """Parts of the variance of votes, and which of them an interval counts."""
    on = Drawing(330, "A mixed model: where differences between votes come from")
    parts = (
        ("listener", "some listeners give higher votes", 0.10, BLUE),
        ("item", "some clips are easier", 0.16, GREEN),
        ("listener × system", "taste: a listener likes a system", 0.10, "#6c4aa0"),
        ("item × system", "a system suits a clip", 0.14, "#a06a12"),
        ("residual", "the same vote would differ next time", 0.50, "#8b9099"),
    )
    left, whole = float(PAD), WIDTH - 2 * PAD
    on.text(PAD, 34, "Variance of votes of one system, as shares of the whole (an example)")
    for _, _, share, fill in parts:
        on.rect(left, 50, whole * share - 2, 40, fill)
        words = f"{share:.0%}".replace("%", " %")
        on.text(left + whole * share / 2, 76, words, fill="#ffffff", text_anchor="middle")
        left += whole * share
    for number, (name, meaning, _, fill) in enumerate(parts):
        y = 124 + 32 * number
        on.rect(PAD, y - 13, 16, 16, fill)
        on.text(PAD + 28, y, name)
        on.text(PAD + 190, y, meaning, fill=GREY)
    on.text(PAD, 294, "Over listeners only, items are fixed: the result holds for these items.")
    on.text(PAD, 314, "The mixed model also counts both item parts: it holds for other items, too.")
    return on


def levels() -> Drawing:
    """The same scores and ratings at three levels."""
    on = Drawing(330, "Three levels of agreement: systems, outputs of one item, all outputs")
    data = scores_and_ratings()
    systems = sorted({key[0] for key in data})
    items = sorted({key[1] for key in data})
    pairs = np.array([[data[one, item] for item in items] for one in systems])
    colours = (BLUE, RED, GREEN)
    panels: tuple[tuple[str, str, list[tuple[Floats, str]]], ...] = (
        ("system", "one dot per system (means)", [(pairs.mean(axis=1), BLUE)]),
        (
            "item",
            "one dot per output, 3 items",
            [(pairs[:, number], colours[number]) for number in range(3)],
        ),
        ("global", "one dot per output, all items", [(pairs.reshape(-1, 2), BLUE)]),
    )
    low, high = pairs.reshape(-1, 2).min(axis=0), pairs.reshape(-1, 2).max(axis=0)
    for number, (name, what, groups) in enumerate(panels):
        left = PAD + 4 + number * 230
        x, y = Axis(low[0], high[0], left + 8, left + 200), Axis(low[1], high[1], 262, 82)
        on.text(left, 34, name, size=16)
        on.text(left, 54, what, size=13, fill=GREY)
        on.line(left, 270, left + 208, 270, stroke=GREY)
        on.line(left, 74, left, 270, stroke=GREY)
        for points, fill in groups:
            for score, rating in points:
                on.dot(x(score), y(rating), fill, 3.5 if len(points) < 20 else 2)
        on.text(left + 104, 292, "score of the metric", size=13, fill=GREY, text_anchor="middle")
    on.text(
        PAD,
        316,
        "Vertical axis: mean rating. In “item”, the order is judged within a colour.",
        fill=GREY,
    )
    return on


def few_systems() -> Drawing:
    """The smallest p that exchanging systems can give."""
    on = Drawing(300, "Smallest possible p for 3 to 8 systems, on a logarithmic axis")
    left, right, needed = 300.0, WIDTH - 140.0, 6
    halvings = Axis(1, 8, left, right - 10)  # p halves with every system; the axis has log2(1 / p)
    on.text(PAD, 34, "systems", fill=GREY)
    on.text(PAD + 90, 34, "ways to exchange them", fill=GREY)
    on.text(left, 34, "smallest possible p", fill=GREY)
    for row, systems in enumerate(range(3, 9)):
        ways, y = 2 ** (systems - 1), 66 + 32 * row
        fill = BLUE if systems >= needed else RED
        on.text(PAD + 20, y + 5, str(systems), size=16, fill=fill)
        on.text(PAD + 90, y + 5, str(ways))
        on.line(left, y, halvings(systems - 1), y, stroke=fill, width=3)
        on.dot(halvings(systems - 1), y, fill)
        on.text(right, y + 5, f"1/{ways} = {1 / ways:.3f}", fill=fill)
    limit = halvings(4.322)  # log2(1 / 0.05)
    on.line(limit, 46, limit, 244, stroke=GREY, stroke_dasharray="5 4")
    on.text(limit, 264, "alpha = 0.05", fill=GREY, text_anchor="middle")
    on.text(PAD, 288, "Red: no difference between metrics can be significant.", fill=GREY)
    return on


FIGURES: Mapping[str, Callable[[], Drawing]] = {
    "bootstrap": bootstrap,
    "permutation": permutation,
    "holm": holm,
    "per-listener": per_listener,
    "different-items": different_items,
    "choices": choices,
    "these-items": these_items,
    "mixed-model": mixed_model,
    "levels": levels,
    "few-systems": few_systems,
}


def main() -> None:
    """Write all figures."""
    IMAGES.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        (IMAGES / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")
        print(f"wrote docs/images/{name}.svg")


if __name__ == "__main__":
    main()
