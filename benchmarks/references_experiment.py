"""Time and memory of the experiment on the number of people, compared with scoring from scratch.

The data have the sizes of the paper: 50 utterances of about 30 words, 25 people, nine systems and
one person as a system, ten judges. The full run has 25 sizes and 100 orders of people; the bounded
run has the sizes 1, 2, 3, 5, 8, 12, 18 and 25 and 20 orders. Both draw curves and correlations with
1,000 bootstrap draws, in two processes, each run in a process of its own. Scoring from scratch
builds every case with the references of its people and measures it on its own; its time is that of
a sample of cases, multiplied. `--quick` uses small sizes, to check that the program runs.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from earwitness.experiments.people_orders import draw_orders, first_people
from earwitness.experiments.reader import read_data
from earwitness.experiments.references import references_experiment
from earwitness.metric import keep_subsets
from earwitness.task import parse_where

BAR_SECONDS, BAR_MEMORY = 600, 1000  # MB
BOUNDED_SIZES, BOUNDED_ORDERS = (1, 2, 3, 5, 8, 12, 18, 25), 20
JOBS = 2
HUMAN = "person 5"
Records = tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]


def paper_records(items: int, people: int, systems: int, judges: int) -> Records:
    """Return outputs, references and judgements; later systems are worse."""
    rng = random.Random(0)
    outputs, references, judgements = list[Any](), list[Any](), list[Any]()
    for number in range(items):
        item, size = f"utterance {number}", rng.randrange(20, 40)
        weights = [rng.random() for _ in range(size)]

        def kept(noise: float, weights: list[float] = weights) -> dict[str, list[int]]:
            own = [weight + rng.gauss(0, noise) for weight in weights]
            limit = sorted(own)[round(0.6 * len(own))]
            return {"positions": [n for n, weight in enumerate(own, 1) if weight >= limit]}

        made = [{"annotator": f"person {n}", **kept(0.2)} for n in range(people)]
        words = [f"w{rng.randrange(size)}" for _ in range(size)]
        references.append({"item": item, "words": words, "references": made})
        names = [f"system {n}" for n in range(systems)]
        outputs += [
            {"item": item, "system": name, "output": kept(0.1 + 0.06 * n)}
            for n, name in enumerate(names)
        ]
        judgements += [
            {
                "item": item,
                "system": name,
                "listener": judge,
                "score": min(5, max(1, round(4.5 - 0.25 * n + rng.gauss(0, 0.8)))),
            }
            for n, name in enumerate([HUMAN, *names])
            for judge in range(judges)
        ]
    return outputs, references, judgements


def measured(records: Records, settings: dict[str, Any], answer: Any) -> None:
    """Run the experiment and report seconds, and the peak memory of this process and a worker."""
    start = time.perf_counter()
    result = references_experiment(*records, human=HUMAN, jobs=JOBS, **settings)
    taken = time.perf_counter() - start
    status = Path("/proc/self/status").read_text()
    own = int(status.split("VmHWM:")[1].split()[0]) / 1000
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    answer.put((taken, own, worker, len(result.curves)))


def seconds_from_scratch(records: Records, sizes: list[int], orders: int) -> tuple[float, int]:
    """Return the CPU time of all cases from a sample, and the number of cases."""
    data = read_data(*records[:2], None, None, HUMAN, parse_where(()), {})
    drawn = draw_orders(len(data.people), orders, 0, exact=False)
    subsets = first_people(drawn, [], sizes).subsets
    sample = subsets[:: max(1, len(subsets) // 40)]
    tasks = [task for task in data.tasks if not task.group][::10]
    cases, start = 0, time.process_time()
    for task in tasks:
        for subset in sample:
            data.setup.metrics.measure(keep_subsets(task.cases, subset[None]))
            cases += len(task.cases)
    each = (time.process_time() - start) / cases
    total = orders * len(sizes) * sum(len(task.cases) for task in data.tasks)
    return each * total, total


def report(name: str, records: Records, sizes: list[int], orders: int) -> None:
    """Print time and memory of a run."""
    context = get_context("spawn")
    answer = context.Queue()
    settings = {"sizes": sizes, "orders": orders}
    process = context.Process(target=measured, args=(records, settings, answer))
    process.start()
    taken, own, worker, points = answer.get()
    process.join()
    scratch, cases = seconds_from_scratch(records, sizes, orders)
    memory = own + JOBS * worker
    late = "" if taken <= BAR_SECONDS else ": missed"
    large = "" if memory <= BAR_MEMORY else ": missed"
    print(f"{name}: {len(sizes)} sizes, {orders} orders, {cases:,} scores of outputs per value")
    print(f"  {taken:.0f} s (bar {BAR_SECONDS} s{late}) with {JOBS} processes, {points:,} points")
    print(f"  memory {own:.0f} MB and {JOBS} × {worker:.0f} MB (bar {BAR_MEMORY} MB{large})")
    print(f"  from scratch: {scratch:.0f} s of CPU time, {scratch / taken:.0f} × the whole run")


def main() -> None:
    """Print both runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    records = paper_records(6, 7, 4, 5) if quick else paper_records(50, 25, 9, 10)
    people = len(records[1][0]["references"])
    few = [size for size in BOUNDED_SIZES if size <= people]
    report("bounded run", records, few, 5 if quick else BOUNDED_ORDERS)
    report("full run", records, list(range(1, people + 1)), 10 if quick else 100)


if __name__ == "__main__":
    main()
