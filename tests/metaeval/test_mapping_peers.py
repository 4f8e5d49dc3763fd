"""P.1401's numbers beside those that published programs give for the same data.

- NISQA 2.0.post2 (github.com/gabrielmittag/NISQA, ``calc_mapping`` and ``calc_eval_metrics``, which
  name equations 7-27 and 7-29 of P.1401), run with SciPy 1.17.1 on the data below. Its d is 0
  without a mapping, 1 for a line and 4 for a cubic; ours is 1, 2 and 4. Its cubic is the end of a
  numerical search, with a slope that must not be negative at places 0.1 apart.
- VMAF (github.com/Netflix/vmaf, ``python/test/perf_metric_test.py`` at d7dac56): data and numbers
  as they stand in its tests. Its RMSE has d = 0.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.polynomial import polynomial

from earwitness.metaeval.coefficients import ScoreRatingSample, compute_coefficients
from earwitness.metaeval.mapping import Accuracy, measure_accuracy

WIDTHS = np.array([0.21, 0.24, 0.26, 0.19, 0.28, 0.25, 0.30, 0.22, 0.27, 0.20, 0.18, 0.15])
STEADY = np.array([1.42, 1.77, 2.05, 2.31, 2.48, 2.90, 3.12, 3.38, 3.61, 3.95, 4.21, 4.44])
WAVING = np.array([1.42, 1.97, 2.65, 2.81, 3.08, 3.00, 2.92, 3.18, 3.01, 3.35, 3.91, 4.44])
# Scores for which the best cubic rises everywhere, would turn at an end, would turn in the middle.
RISING = np.array([1.10, 2.02, 1.95, 2.60, 2.45, 2.71, 3.35, 3.02, 3.42, 3.60, 4.35, 4.52])
BENDING = np.array([1.85, 1.30, 2.20, 2.05, 3.15, 2.60, 2.75, 2.95, 4.40, 4.10, 4.25, 4.05])
TURNING = np.array([1.20, 1.30, 1.60, 1.80, 2.10, 3.90, 3.40, 2.20, 2.70, 4.10, 4.30, 4.50])
N = 12

# By data and mapping, as NISQA gives them: r after the mapping, RMSE, RMSE*, points with an error
# beyond the width.
NISQA = {
    ("rising", "none"): (0.9705315631, 0.2350709113, 0.0732006375, 5),
    ("rising", "linear"): (0.9705315631, 0.2368710236, 0.0751630192, 4),
    ("rising", "cubic"): (0.9789308601, 0.2353595103, 0.0476235509, 3),
    ("bending", "none"): (0.9052404732, 0.4239595106, 0.2305428377, 9),
    ("bending", "linear"): (0.9052404732, 0.4176649487, 0.2287115192, 6),
    ("bending", "cubic"): (0.9185458269, 0.4556546395, 0.2407068357, 8),
    ("turning", "none"): (0.8254039491, 0.7300342458, 0.5285357131, 11),
    ("turning", "linear"): (0.8254039491, 0.4432081442, 0.2511806005, 9),
    ("turning", "cubic"): (0.9670285136, 0.2344428390, 0.0392548777, 5),
}
DATA = {"rising": (RISING, STEADY), "bending": (BENDING, STEADY), "turning": (TURNING, WAVING)}
THEIR_D = {"none": 0, "linear": 1, "cubic": 4}
# How far a search with a slope that is looked at only here and there may be off; nothing else is.
SEARCHED = {"rising": 1e-6, "bending": 1e-3, "turning": 1e-3}


def ours(data: str, mapping: str) -> Accuracy:
    scores, people = DATA[data]
    return measure_accuracy(scores, people, WIDTHS, mapping=mapping, direction=1)


@pytest.mark.parametrize(("data", "mapping"), NISQA)
def test_numbers_are_those_of_nisqa_but_for_degrees_of_freedom(data: str, mapping: str) -> None:
    found, theirs = ours(data, mapping), NISQA[data, mapping]
    near = SEARCHED[data] if mapping == "cubic" else 1e-9
    other_d = math.sqrt((N - found.d) / (N - THEIR_D[mapping]))
    assert found.d == {"none": 1, "linear": 2, "cubic": 4}[mapping]
    assert found.pearson.value == pytest.approx(theirs[0], abs=near)
    assert found.rmse.value * other_d == pytest.approx(theirs[1], abs=near)
    assert found.rmse_star.value * other_d == pytest.approx(theirs[2], abs=near)
    assert found.outliers.value * N == pytest.approx(theirs[3])


# The terms of NISQA's cubics, from the constant on, and what they leave: Σ of squared errors.
CUBICS = {
    "bending": ((2.80002, -2.226888, 1.210402, -0.145295), 1.6609692),
    "turning": ((-3.940652, 7.27232, -2.52266, 0.291689), 0.4397076),
}


@pytest.mark.parametrize("data", CUBICS)
def test_cubics_of_nisqa_fit_a_little_better_because_they_fall_a_little(data: str) -> None:
    (terms, left), scores = CUBICS[data], DATA[data][0]
    between = np.linspace(scores.min(), scores.max(), 2001)
    slope = polynomial.polyval(between, polynomial.polyder(np.array(terms)))
    assert -0.02 < slope.min() < 0
    found = ours(data, "cubic")
    assert found.mapping is not None
    assert found.mapping.bound
    assert (np.diff(found.mapping.map_scores(between)) > -1e-12).all()
    squares = float((found.residuals**2).sum())
    assert left < squares < 1.002 * left


def test_numbers_are_those_in_the_tests_of_vmaf() -> None:
    people, last, other = np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 5]), [1.0, 2, 5, 3]
    found = measure_accuracy(last, people, np.zeros(4), mapping="none")
    assert found.rmse.value * math.sqrt(3 / 4) == pytest.approx(0.5, abs=1e-6)
    assert found.pearson.value == pytest.approx(0.98270762982399085, abs=1e-6)
    one = ScoreRatingSample(np.array([[last, other]]), people[None, None], np.ones((1, 1, 4)))
    ranks = compute_coefficients(one, ["spearman", "kendall_b"])[:, 0, 0]
    assert ranks == pytest.approx(np.array([[1, 0.79999999999999993], [1, 0.66666666666666663]]))
