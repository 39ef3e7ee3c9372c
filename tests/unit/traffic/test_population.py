"""Who sends requests: kinds of requests side by side, each with its own lengths and its own part of the load."""

from __future__ import annotations

from collections import Counter

from planner.traffic.population import Kind, open_loop

KINDS = (Kind(prompts=[100.0], outputs=[10.0]), Kind(prompts=[5000.0], outputs=[50.0]))


def test_an_open_load_is_of_every_kind_by_its_rate() -> None:
    # Three requests in four are of the first kind: 3000 of 4000, within five standard deviations (sqrt(4000 x 3/16)).
    source = open_loop(KINDS, [(3.0, "poisson", 1.0), (1.0, "poisson", 1.0)], 4000, seed=1)
    sent = list(source.requests)
    assert abs(Counter(item.owner for item in sent)[0] - 3000) < 5 * 27.4
    assert {item.owner: item.prompt for item in sent} == {0: 100, 1: 5000}
    assert all(item.prompt == KINDS[item.owner].prompts[0] for item in sent)
    arrivals = [item.arrival_s for item in sent]
    assert arrivals == sorted(arrivals)
