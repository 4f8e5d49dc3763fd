"""Rubrics for rating captions: dimensions, total formulas, THumBS and custom rubrics."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from operator import add, mul, sub, truediv
from typing import Any, Literal, get_args

from earwitness.errors import UsageError, nearest
from earwitness.ratings.scales import Scale

# --- Formulas of totals --------------------------------------------------------------------------
# A formula is parsed into a tree and never executed as code. Minus may be a hyphen or U+2212.


MAX_FORMULA_CHARACTERS = 1000
MAX_FORMULA_DEPTH = 40  # nested parentheses and signs
FORMULA_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?|\.\d+)|([^\W\d]\w*)|([-−+*/()]))")
FORMULA_REMEDY = "use only names of dimensions, numbers, + - * / and parentheses"


@dataclass(frozen=True)
class FormulaOperation:
    """Two parts and the operator between them."""

    sign: str
    left: FormulaPart
    right: FormulaPart


FormulaPart = float | str | FormulaOperation  # a number, a dimension, or an operation
Range = tuple[float, float]
FORMULA_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
}


@dataclass(frozen=True)
class RubricFormula:
    """A formula: its text and its parsed parts.

    >>> formula("(precision + recall)/2 − 1").value({"precision": 4, "recall": 5})
    3.5
    """

    text: str
    whole: FormulaPart

    @property
    def names(self) -> frozenset[str]:
        """Names of the dimensions in the formula."""
        return frozenset(_names(self.whole))

    @property
    def is_linear(self) -> bool:
        """Whether no dimension is multiplied or divided by another."""
        return _is_linear(self.whole)

    def value(self, values: Mapping[str, float]) -> float:
        """Return the value of the formula for values of the dimensions."""
        return _value(self.whole, values)

    def bounds(self, ranges: Mapping[str, Range]) -> Range:
        """Return the lowest and highest value of the formula.

        The bounds are exact if every dimension occurs once.

        Raises
        ------
        UsageError
            If a divisor may be 0.
        """
        return _bounds(self.whole, ranges)


def formula(text: str) -> RubricFormula:
    """Parse a formula; raise UsageError with the position if it is invalid."""
    if len(text) > MAX_FORMULA_CHARACTERS:
        raise UsageError(
            f"formula: longer than {MAX_FORMULA_CHARACTERS:,} characters — {FORMULA_REMEDY}"
        )
    reader = _Reader(_tokenize(text), text)
    whole = reader.sum()
    if reader.next:
        reader.refuse()
    return RubricFormula(text, whole)


def _tokenize(text: str) -> list[str]:
    tokens, place, whole = list[str](), 0, text.rstrip()
    while place < len(whole):
        token = FORMULA_TOKEN.match(whole, place)
        if token is None:
            raise UsageError(
                f'formula: cannot parse "{whole[place:].strip()[:20]}" — {FORMULA_REMEDY}'
            )
        tokens.append(token[0].strip().replace("−", "-"))
        place = token.end()
    return tokens


class _Reader:
    """Parser of sums of products, from left to right."""

    def __init__(self, tokens: list[str], text: str) -> None:
        self._tokens, self._text, self._place, self._depth = tokens, text, 0, 0

    @property
    def next(self) -> str:
        """The next token, or an empty string."""
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def sum(self) -> FormulaPart:
        """Parse products joined by + or -."""
        return self._chain("+-", lambda: self._chain("*/", self._part))

    def refuse(self) -> None:
        reason = f'unexpected "{self.next}"' if self.next else "unexpected end"
        raise UsageError(f'formula "{self._text}": {reason} — {FORMULA_REMEDY}')

    def _chain(self, signs: str, part: Callable[[], FormulaPart]) -> FormulaPart:
        left = part()
        while self.next and self.next in signs:
            left = FormulaOperation(self._take(), left, part())
        return left

    def _part(self) -> FormulaPart:
        self._depth += 1
        if self._depth > MAX_FORMULA_DEPTH:
            raise UsageError(
                f"formula: more than {MAX_FORMULA_DEPTH} nested levels — use fewer parentheses"
            )
        part = self._inner(self.next)
        self._depth -= 1
        return part

    def _inner(self, token: str) -> FormulaPart:
        if token == "(":
            self._take()
            part = self.sum()
            if self.next != ")":
                self.refuse()
            self._take()
            return part
        if token == "-":
            self._take()
            return FormulaOperation("-", 0.0, self._part())
        if not token or token in "+*/)":
            self.refuse()
        self._take()
        return float(token) if token[0] in ".0123456789" else token

    def _take(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1]


def _names(part: FormulaPart) -> Iterator[str]:
    match part:
        case str():
            yield part
        case FormulaOperation(_, left, right):
            yield from _names(left)
            yield from _names(right)


def _is_linear(part: FormulaPart) -> bool:
    if not isinstance(part, FormulaOperation):
        return True
    named = [bool([*_names(side)]) for side in (part.left, part.right)]
    bent = (part.sign == "*" and all(named)) or (part.sign == "/" and named[1])
    return not bent and _is_linear(part.left) and _is_linear(part.right)


def _value(part: FormulaPart, values: Mapping[str, float]) -> float:
    match part:
        case float():
            return part
        case str():
            return values[part]
        case FormulaOperation(sign, left, right):
            return FORMULA_OPERATORS[sign](_value(left, values), _value(right, values))


def _bounds(part: FormulaPart, ranges: Mapping[str, Range]) -> Range:
    match part:
        case float():
            return part, part
        case str():
            return ranges[part]
        case FormulaOperation(sign, left, right):
            first, second = _bounds(left, ranges), _bounds(right, ranges)
            if sign == "/" and second[0] <= 0 <= second[1]:
                raise UsageError("formula: the divisor may be 0 — divide by something else")
            ends = [FORMULA_OPERATORS[sign](a, b) for a in first for b in second]
            return min(ends), max(ends)


# --- Rubrics and their dimensions ----------------------------------------------------------------


Role = Literal["score", "penalty"]
ROLES = get_args(Role)
GOOD_ENDS = ("high", "low")  # better end of a dimension
LANGUAGES = ("en", "fr")  # of built-in rubrics and of the pages of studies
TOTAL = "total"  # name of the scale of totals
STEP_TOLERANCE = 1e-6  # of a step
TOTAL_STEP_RESOLUTION = 1e-6  # steps of totals are multiples of this
ROUNDING_DECIMALS = 9  # of totals
DIMENSION_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Anchor:
    """Meaning of a value of a dimension."""

    value: float
    text: str


@dataclass(frozen=True)
class Dimension:
    """Dimension on which captions are rated, from ``low`` to ``high`` in steps.

    Higher is better unless ``good`` is ``low``. A penalty is 0 or below; 0 is no fault.
    """

    name: str
    low: float
    high: float
    step: float
    role: Role = "score"
    title: str = ""
    help: str = ""
    anchors: tuple[Anchor, ...] = ()
    good: Literal["high", "low"] = "high"

    def __post_init__(self) -> None:
        if not DIMENSION_NAME.fullmatch(self.name) or self.name == TOTAL:
            raise UsageError(
                f'dimension "{self.name}": the name must be a word other than "{TOTAL}"'
            )
        numbers = self.low, self.high, self.step
        if not (all(map(math.isfinite, numbers)) and self.low < self.high and self.step > 0):
            raise UsageError(f"dimension {self.name}: low must be below high, and step above 0")
        if self.role not in ROLES:
            raise UsageError(
                f'{self.name}: unknown role "{self.role}" — {nearest(self.role, ROLES)}'
            )
        if self.good not in GOOD_ENDS:
            raise UsageError(
                f'{self.name}: unknown good end "{self.good}" — {nearest(self.good, GOOD_ENDS)}'
            )
        if self.role == "penalty" and self.good == "low":
            raise UsageError(f"penalty {self.name}: good must be high, since 0 is no fault")
        if self.role == "penalty" and self.high != 0:
            raise UsageError(f"penalty {self.name}: high must be 0, got {self.high:g}")
        for value in (self.high, *(anchor.value for anchor in self.anchors)):
            if not self.allows(value):
                raise UsageError(
                    f"dimension {self.name}: {value:g} is not a valid value ({self.range})"
                )

    @property
    def shown(self) -> str:
        """Title of the dimension, or its name."""
        return self.title or self.name.capitalize()

    @property
    def range(self) -> str:
        """Range and step in words."""
        return f"{self.low:g} to {self.high:g} in steps of {self.step:g}".replace("-", "−")

    def allows(self, value: float) -> bool:
        """Return whether a number is a valid value."""
        steps = (value - self.low) / self.step
        within = (
            self.low - STEP_TOLERANCE * self.step <= value <= self.high + STEP_TOLERANCE * self.step
        )
        return within and abs(steps - round(steps)) < STEP_TOLERANCE

    def exactly(self, value: float) -> float:
        """Round a number to remove floating-point error, such as in ``0.30000000000000004``."""
        return round(value, ROUNDING_DECIMALS) + 0.0  # no −0

    @property
    def scale(self) -> Scale:
        """The dimension as a scale of ratings."""
        return Scale(self.name, self.high, self.low, self.step, slider=True, good=self.good)


@dataclass(frozen=True)
class WorkedExample:
    """A rated example: what is heard, a caption, its values, and a comment.

    ``sound`` is the path of an audio file, relative to the folder of the study, if any.
    """

    heard: str
    caption: str
    values: Mapping[str, float]
    comment: str = ""
    sound: str = ""


@dataclass(frozen=True)
class Rubric:
    """Dimensions in order of presentation, and the formula of the total."""

    name: str
    dimensions: tuple[Dimension, ...]
    total: str
    title: str = ""
    examples: tuple[WorkedExample, ...] = field(default=())
    language: str = "en"

    def __post_init__(self) -> None:
        names = [dimension.name for dimension in self.dimensions]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f'rubric {self.name}: duplicate dimension "{name}"')
        for name in sorted(self.formula.names - {*names}):
            raise UsageError(f'formula: unknown dimension "{name}" — {nearest(name, names)}')
        if not self.formula.names:
            raise UsageError(f'formula "{self.total}": contains no dimension')
        self.formula.bounds(self._ranges)
        self._check_penalties()
        for example, dimension in product(self.examples, self.dimensions):
            value = example.values.get(dimension.name)
            if value is None or not dimension.allows(value):
                raise UsageError(
                    f"example: {dimension.name} must be {dimension.range}, got {value}"
                )

    @cached_property
    def formula(self) -> RubricFormula:
        """Formula of the total."""
        return formula(self.total)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def scales(self) -> dict[str, Scale]:
        """Scales of ratings by name: the dimensions and the total."""
        low, high = (round(end, ROUNDING_DECIMALS) for end in self.formula.bounds(self._ranges))
        whole = Scale(TOTAL, high, low, self.total_step or (high - low), slider=True)
        return {**{dimension.name: dimension.scale for dimension in self.dimensions}, TOTAL: whole}

    @property
    def total_step(self) -> float:
        """Step between totals; 0 if the formula is not linear.

        >>> thumbs().total_step
        0.05
        """
        if not self.formula.is_linear:
            return 0.0
        lows = {dimension.name: dimension.low for dimension in self.dimensions}
        moved = [
            {**lows, dimension.name: dimension.low + dimension.step}
            for dimension in self.dimensions
        ]
        base = self.formula.value(lows)
        steps = [
            round(abs(self.formula.value(dimension) - base) / TOTAL_STEP_RESOLUTION)
            for dimension in moved
        ]
        return round(math.gcd(*steps) * TOTAL_STEP_RESOLUTION, ROUNDING_DECIMALS)

    @property
    def _ranges(self) -> dict[str, tuple[float, float]]:
        return {dimension.name: (dimension.low, dimension.high) for dimension in self.dimensions}

    def _check_penalties(self) -> None:
        """Raise UsageError if a penalty, or a value that is worse the higher, raises the total."""
        for dimension in self.dimensions:
            is_penalty = dimension.role == "penalty"
            ends = (
                (dimension.low, dimension.high) if is_penalty else (dimension.high, dimension.low)
            )
            for end in (0, 1) if is_penalty or dimension.good == "low" else ():
                ranges = {name: ends[end] for name, ends in self._ranges.items()}
                worst, best = (self.formula.value({**ranges, dimension.name: x}) for x in ends)
                if worst > best:
                    name, remedy = dimension.name, ", but lower is better — subtract it"
                    if is_penalty:
                        name = f"penalty {name}"
                        remedy = " — add penalties, since they are 0 or below"
                    raise UsageError(f'formula "{self.total}": {name} raises the {TOTAL}{remedy}')


# --- THumBS, the built-in rubric -----------------------------------------------------------------
# Transparent human benchmark for soundscapes, which rates captions of audio. Precision and recall
# range from 1 to 5; three penalties (fluency, conciseness, irrelevance) from −2 to 0; all in
# tenths. The total is the mean of precision and recall plus the penalties, from −5 to 5. It is
# based on THumB for images (Kasai et al., 2022); irrelevance is from Kreiss et al. (2022).


THUMBS_NAME = "thumbs"
THUMBS_FORMULA = "(precision + recall)/2 + fluency + conciseness + irrelevance"
THUMBS_DIMENSIONS: dict[str, tuple[float, float, float, Role]] = {
    "precision": (1, 5, 0.1, "score"),
    "recall": (1, 5, 0.1, "score"),
    "fluency": (-2, 0, 0.1, "penalty"),
    "conciseness": (-2, 0, 0.1, "penalty"),
    "irrelevance": (-2, 0, 0.1, "penalty"),
}


@cache
def thumbs(language: str = "en") -> Rubric:
    """Return the THumBS rubric with texts in a language.

    >>> [one.shown for one in thumbs("fr").dimensions][:2]
    ['Précision', 'Rappel']
    """
    if language not in LANGUAGES:
        raise UsageError(f'unknown language "{language}" — {nearest(language, LANGUAGES)}')
    place = files(__package__).joinpath("rubrics", f"{THUMBS_NAME}.{language}.json")
    words: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    dimensions = []
    for name, numbers in THUMBS_DIMENSIONS.items():
        own = words["dimensions"][name]
        anchors = tuple(Anchor(float(value), text) for value, text in own["anchors"].items())
        dimensions.append(Dimension(name, *numbers, own["title"], own["help"], anchors))
    examples = tuple(WorkedExample(**word) for word in words["examples"])
    return Rubric(
        THUMBS_NAME, tuple(dimensions), THUMBS_FORMULA, words["title"], examples, language
    )


# --- Rubrics defined by a study ------------------------------------------------------------------


BUILT_IN_RUBRICS = {"thumbs": thumbs}
COMPLETE_RUBRIC_KEYS = ("dimensions", "total")


def read_rubric(source: str | Mapping[str, Any], language: str = "en") -> Rubric:
    """Return a rubric by name or from its definition.

    Parameters
    ----------
    source
        Name of a built-in rubric, or a mapping. A mapping without dimensions changes title and
        examples of the built-in rubric of that name; any other must define ``name``,
        ``dimensions`` and ``total``.
    language
        Language of the texts of a built-in rubric.

    Returns
    -------
    Rubric

    Raises
    ------
    UsageError
        If the rubric is unknown or its definition is invalid.
    """
    if not isinstance(source, str | Mapping):
        raise UsageError(f"rubric must be a name or a mapping, got {source!r}")
    return _parse_rubric(source if isinstance(source, str) else json.dumps(source), language)


@cache
def _parse_rubric(source: str, language: str) -> Rubric:
    if not source.startswith("{"):
        return _built_in(source, language)
    value = json.loads(source)
    name = str(value.get("name", ""))
    if not any(key in value for key in COMPLETE_RUBRIC_KEYS):
        rubric = _built_in(name, language)
        title = str(value.get("title", rubric.title))
        examples = _read_examples(value) if "examples" in value else rubric.examples
        return replace(rubric, title=title, examples=examples)
    missing = [key for key in ("name", *COMPLETE_RUBRIC_KEYS) if not value.get(key)]
    if missing:
        raise UsageError(
            f"rubric: missing {' and '.join(missing)} — add them, or name a built-in rubric"
        )
    if name in BUILT_IN_RUBRICS:
        raise UsageError(f'rubric: "{name}" is the name of a built-in rubric — choose another name')
    dimensions = tuple(map(_read_dimension, value["dimensions"]))
    title, examples = str(value.get("title", "")), _read_examples(value)
    return Rubric(name, dimensions, str(value["total"]), title, examples, language)


def _built_in(name: str, language: str) -> Rubric:
    if name not in BUILT_IN_RUBRICS:
        raise UsageError(f'unknown rubric "{name}" — {nearest(name, BUILT_IN_RUBRICS)}')
    return BUILT_IN_RUBRICS[name](language)


def _read_dimension(value: Mapping[str, Any]) -> Dimension:
    anchors = value.get("anchors", {})
    low, high, step = (float(value[key]) for key in ("low", "high", "step"))
    return Dimension(
        str(value["name"]),
        low,
        high,
        step,
        value.get("role", "score"),
        str(value.get("title", "")),
        str(value.get("help", "")),
        tuple(Anchor(_number(value_text), str(text)) for value_text, text in anchors.items()),
        value.get("good", "high"),
    )


def _number(text: str) -> float:
    try:
        return float(str(text).replace("−", "-"))
    except ValueError:
        raise UsageError(f"anchors: must be numbers, got {text!r}") from None


def _read_examples(value: Mapping[str, Any]) -> tuple[WorkedExample, ...]:
    return tuple(
        WorkedExample(
            str(example.get("heard", "")),
            str(example["caption"]),
            {str(key): float(number) for key, number in example["values"].items()},
            str(example.get("comment", "")),
            str(example.get("sound", "")),
        )
        for example in value.get("examples", ())
    )
