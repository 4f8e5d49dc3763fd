"""Time to compute BERTScore of titles, compared with bert-score with the same model and samples.

Three wall-clock times are compared: `bert_score.score` called for every sample, which loads its
model in every call (this has a limit); one `BERTScorer` for all samples, as in chunkseg (for
information only: both run the same model, Earwitness once per text); and only running the model
over the distinct texts, which is the minimum. Loading our model is not included. `--quick` uses few
samples, to check that the program runs.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import bert_score
import torch

from earwitness.models.text_encoder import Encoder, find_encoder
from earwitness.scoring import score as score_module

BAR = 5
SENTENCE = """
introduction welcome agenda history of speech acoustics first results questions and answers break
methods data model training evaluation discussion limits outlook thanks goodbye music advert guest
biography weather traffic sports science culture film review interview part one two three summary
"""
WORDS = SENTENCE.split()


def corpus(count: int) -> list[dict[str, Any]]:
    """Return samples of 6 to 12 chapters; some titles are frequent."""
    rng = random.Random(0)
    common = [" ".join(rng.choices(WORDS, k=rng.randint(1, 3))) for _ in range(200)]

    def title() -> str:
        if rng.random() < 0.3:
            return rng.choice(common)
        return " ".join(rng.choices(WORDS, k=rng.randint(2, 7)))

    samples = []
    for _ in range(count):
        times = sorted(rng.uniform(0, 3500) for _ in range(rng.randint(6, 12)))
        reference: list[tuple[str, float]] = [(title(), round(t, 1)) for t in times]
        found = [
            (t if rng.random() < 0.3 else title(), s + rng.choice([0, 1, -2, 30]))
            for t, s in reference
        ]
        samples.append(
            {
                "hypothesis": [s for _, s in found],
                "reference": [s for _, s in reference],
                "duration": 3600.0,
                "hyp_titles": found,
                "reference_titles": reference,
            }
        )
    return samples


Score = Callable[[list[str], list[str]], Any]


def peer(samples: list[dict[str, Any]], score: Score) -> float:
    """Return the time of chunkseg's calls: per sample one for pairs, one for joined titles."""
    start = time.perf_counter()
    for sample in samples:
        pairs = zip(sample["hyp_titles"], sample["reference_titles"], strict=True)
        near = [(h[0], r[0]) for h, r in pairs if abs(h[1] - r[1]) <= 5]
        if near:
            score([h for h, _ in near], [r for _, r in near])
        joined = ["\n".join(t for t, _ in sample[k]) for k in ("hyp_titles", "reference_titles")]
        score([joined[0]], [joined[1]])
    return time.perf_counter() - start


def running(samples: list[dict[str, Any]]) -> float:
    """Return the time of only running the model over the distinct texts."""
    texts = {t for s in samples for k in ("hyp_titles", "reference_titles") for t, _ in s[k]}
    texts |= {
        "\n".join(t for t, _ in s[k]) for s in samples for k in ("hyp_titles", "reference_titles")
    }
    encoder = Encoder("minilm", 6)
    encoder.encode(["warm up"])
    start = time.perf_counter()
    encoder.encode(sorted(texts))
    return time.perf_counter() - start


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    count = 20 if quick else 300
    samples = corpus(count)
    folder = str(Encoder("minilm", 6).folder)
    options: dict[str, Any] = {"model_type": folder, "num_layers": 6, "device": "cpu"}
    find_encoder("minilm").encode(["warm up"])
    start = time.perf_counter()
    found = score_module.score(samples, metrics="title_bertscore").systems["outputs"]
    mine = time.perf_counter() - start
    scorer = bert_score.BERTScorer(**options)
    kept = peer(samples, scorer.score)
    called = peer(samples, lambda c, r: bert_score.score(c, r, **options))
    print(
        f"BERTScore of titles, minilm, {count:,} samples, {torch.get_num_threads()} threads:"
        f" Earwitness {mine:.1f} s (tm_bs_f1 {found['tm_bs_f1'].value:.4f})"
    )
    verdict = "met" if called / mine >= BAR else "missed"
    ratio = f"{called / mine:.1f} × as long (bar {BAR} ×: {verdict})"
    print(f"  bert_score.score per sample: {called:.0f} s: {ratio}")
    beside = f"{kept / mine:.1f} × as long (for information)"
    print(f"  one BERTScorer for all samples, as in chunkseg: {kept:.1f} s: {beside}")
    alone = running(samples)
    print(
        f"  only running the model over the distinct texts: {alone:.1f} s;"
        f" Earwitness takes {mine / alone:.2f} × as long"
    )


if __name__ == "__main__":
    main()
