"""Digit-triplet hearing test: three digits in noise, with an adaptive signal-to-noise ratio.

The browser plays the digits and generates the noise; the server draws the digits and checks the
result. It is a screening tool, not a medical test: levels are not calibrated, and limits depend on
the recordings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from earwitness.studies.study import HearingTest

# --- Triplets and the adaptive track -------------------------------------------------------------
# 1-up-1-down: a triplet is correct if all three digits are; the next one is then harder by one
# step, otherwise easier. The speech reception threshold (SRT) is the mean ratio after the first
# triplets, including the ratio that would come next (Smits, Kapteyn and Houtgast, 2004).


DIGITS = tuple(range(10))
DIGITS_PER_TRIPLET = 3
START_RATIO, RATIO_STEP = 0.0, 2.0  # dB
MIN_RATIO, MAX_RATIO = -30.0, 10.0  # dB
LEADING_TRIPLETS = 4  # not part of the threshold
HEARING_STREAM = 12  # random stream, distinct from those of designs and device checks
TRIPLET_SECONDS = 7.0  # to hear and to answer one triplet
RESPONSE_PATTERN = re.compile(r"\d{3}")
SRT_TOLERANCE = 0.051  # dB, from rounding in the browser


def draw_triplets(count: int, seed: int, listener: int) -> list[list[int]]:
    """Return triplets of different digits; each digit occurs about equally often.

    >>> draw_triplets(24, 1, 7) == draw_triplets(24, 1, 7)
    True
    """
    rng = np.random.default_rng([seed, HEARING_STREAM, listener])
    counts, triplets = np.zeros(len(DIGITS), np.int64), list[list[int]]()
    for _ in range(count):
        order = rng.permutation(len(DIGITS))
        rarest = order[np.argsort(counts[order], kind="stable")][:DIGITS_PER_TRIPLET]
        counts[rarest] += 1
        triplets.append([int(digit) for digit in rng.permutation(rarest)])
    return triplets


def track_ratios(triplets: Sequence[Sequence[int]], responses: Sequence[str]) -> list[float]:
    """Return the ratio of each triplet in dB, and that of the one that would come next.

    >>> track_ratios([[1, 2, 3], [4, 5, 6]], ["123", "465"])
    [0.0, -2.0, 0.0]
    """
    ratios = [START_RATIO]
    for triplet, response in zip(triplets, responses, strict=True):
        is_right = response == "".join(map(str, triplet))
        ratio = ratios[-1] + (-RATIO_STEP if is_right else RATIO_STEP)
        ratios.append(min(MAX_RATIO, max(MIN_RATIO, ratio)))
    return ratios


def reception_threshold(triplets: Sequence[Sequence[int]], responses: Sequence[str]) -> float:
    """Return the speech reception threshold in dB; lower is better."""
    return float(np.mean(track_ratios(triplets, responses)[LEADING_TRIPLETS:]))


# --- Answers -------------------------------------------------------------------------------------


def hearing_faults(
    test: HearingTest, seed: int, listener: int, values: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the fields of the answer to the hearing test that are invalid, and what is wrong."""
    responses, srt = values.get("responses"), values.get("srt")
    for name in values:
        if name not in ("responses", "srt"):
            yield name, f"unknown field {name!r}"
    if not isinstance(responses, list) or not all(
        isinstance(response, str) and RESPONSE_PATTERN.fullmatch(response) for response in responses
    ):
        yield "responses", "responses must be a list of texts of three digits"
    elif len(responses) != test.triplets:
        yield "responses", f"responses must have {test.triplets} entries, got {len(responses)}"
    elif isinstance(srt, bool) or not isinstance(srt, int | float):
        yield "srt", f"srt must be a number (decibels), got {srt!r}"
    else:
        expected = reception_threshold(draw_triplets(test.triplets, seed, listener), responses)
        if not abs(expected - srt) <= SRT_TOLERANCE:
            yield "srt", f"srt must be {expected:.2f}, got {srt!r}"


def good_answers(test: HearingTest, seed: int, listener: int) -> dict[str, Any]:
    """Return the answers of a person who understands the digits down to −10 dB."""
    triplets = draw_triplets(test.triplets, seed, listener)
    responses = list[str]()
    for triplet in triplets:
        ratio = track_ratios(triplets[: len(responses)], responses)[-1]
        right = "".join(map(str, triplet))
        responses.append(right if ratio > -10 else right[::-1])
    return {"responses": responses, "srt": round(reception_threshold(triplets, responses), 2)}


def digit_files(test: HearingTest) -> list[str]:
    """Return the paths of the recordings of the digits 0 to 9."""
    return [test.digits.format(digit=digit) for digit in DIGITS]
