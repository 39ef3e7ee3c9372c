"""Times of one engine rank under a batch: what a step, a prefill and a request cost, levers included."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from planner.domain.evaluation import Split
from planner.domain.plan import Plan
from planner.evaluation import operating
from planner.evaluation.mix import Mix
from planner.evaluation.step import Step, seconds, step_of
from planner.physics import serving
from planner.physics.attention_scores import stored_score_traffic_bytes
from planner.physics.roofline_floor import read_s
from planner.physics.serving import Requests

SCORE_BYTES = 2.0


@dataclass(frozen=True, slots=True)
class Service:
    """A configured plan's times. Batches are those of one data-parallel rank."""

    plan: Plan
    step: Step
    draft: Step | None
    mix: Mix
    known: dict[tuple[float, float], float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def tokens_per_step(self) -> float:
        speculation = self.plan.techniques.speculation
        return speculation.tokens_per_step if speculation else 1.0

    def decode_split(self, batch: float, context: float | None = None) -> Split:
        """One step of `batch` sequences; drafting counted as its own step, k times."""
        context = self.mix.context if context is None else context
        split = self.step.decode(batch, context)
        speculation = self.plan.techniques.speculation
        if speculation is None:
            return split
        drafting = self.drafting_s(batch, context)
        return replace(split, overhead_s=split.overhead_s + drafting, terms={**split.terms, "draft_s": drafting})

    def drafting_s(self, batch: float, context: float | None = None) -> float:
        """Drafting before one step: a draft's step for each proposed token."""
        speculation = self.plan.techniques.speculation
        if speculation is None:
            return 0.0
        return speculation.proposed * self._draft_s(batch, self.mix.context if context is None else context)

    def _draft_s(self, batch: float, context: float) -> float:
        """One draft token for each sequence: a draft model's step, or one layer's share of the target's."""
        speculation = self.plan.techniques.speculation
        if speculation is None or speculation.method == "ngram":
            return 0.0
        if self.draft is not None:
            return seconds(self.draft.decode(batch, context))
        return seconds(self.step.decode(batch, context)) / max(1, self.plan.model.layers)

    def decode_s(self, batch: float, context: float | None = None) -> float:
        """The time of `decode_split`, without its parts."""
        cost = self.step.cost
        if cost is None:
            return seconds(self.decode_split(batch, context))
        seen = self.mix.context if context is None else context
        step: float = serving.decode_step_s(cost, batch, seen, self.step.tokens_a_sequence())
        return step + self.drafting_s(batch, seen)

    def prefill_split(self, tokens: float, cached: float = 0.0) -> Split:
        """One prompt alone; scores that the kernel stores are written and read."""
        split = self.step.prefill(tokens, cached)
        extra = self._scores_s(tokens, cached)
        if not extra:
            return split
        named = {**split.terms, "scores_s": extra}
        if self.step.cost is not None:
            return replace(split, overhead_s=split.overhead_s + extra, terms=named)
        return replace(split, memory_s=split.memory_s + extra, terms=named)

    @property
    def prompt_extra_s(self) -> float:
        """What the mean prompt takes beside its steps: scores that the kernel stores."""
        return self._scores_s(max(self.mix.prompt - self.mix.cached, 1.0), self.mix.cached)

    def _scores_s(self, tokens: float, cached: float) -> float:
        """Writing and reading the scores of one prompt; 0 where they are never stored."""
        if self.plan.techniques.exact_attention_kernel or self.step.ideal:
            return 0.0
        heads = max(
            (mixer.heads for group in self.plan.model.groups for mixer in group.mixers if mixer.attends), default=0
        )
        heads_here = max(1.0, heads / self.plan.engine.tensor_parallel_size)
        traffic = stored_score_traffic_bytes(heads_here, tokens, cached + tokens, SCORE_BYTES)
        found: float = read_s(self.plan.model.attention_layers * traffic, self.step.bandwidth_bytes_per_s)
        return found

    def prefill_s(self, tokens: float, cached: float = 0.0) -> float:
        """Asked for the same prompts many times over, so remembered."""
        found = self.known.get((tokens, cached))
        if found is None:
            found = self.known[tokens, cached] = self._prefill_s(tokens, cached)
        return found

    def _prefill_s(self, tokens: float, cached: float) -> float:
        """The time of `prefill_split`, without its parts."""
        if self.step.cost is None or self.step.engine is None:
            return seconds(self.prefill_split(tokens, cached))
        alone: float = serving.prefill_s(self.step.cost, Requests(tokens, cached, 1.0), self.step.engine_for(tokens))
        return alone + self._scores_s(tokens, cached)

    @property
    def mean_prefill_s(self) -> float:
        """Of the mean prompt, the cached part left out."""
        return self.prefill_s(max(self.mix.prompt - self.mix.cached, 1.0), self.mix.cached)

    def request_s(self, batch: float) -> float:
        """Engine time that one request takes when `batch` decode together: its prefill and its share of its steps."""
        if self.step.cost is not None:
            return operating.engine_s(self, operating.steady(self, self.step.cost, batch, batch))
        steps = max(self.mix.output - 1.0, 0.0) / self.tokens_per_step
        return self.mean_prefill_s + steps * self.decode_s(batch) / batch / self.fill

    @property
    def fill(self) -> float:
        """Share of the batch that is busy: all, or mean over longest answer where a batch waits for its longest."""
        if self.plan.techniques.continuous_batching or self.step.ideal or not self.mix.has_prompt:
            return 1.0
        longest = max(item.output.maximum for item in self.mix.classes if item.output)
        return max(self.mix.output / longest, 1e-6) if longest > 0 else 1.0


def service_of(plan: Plan, mix: Mix) -> Service:
    """The step of the plan, and of its draft model where speculation has one."""
    speculation = plan.techniques.speculation
    draft = None
    if speculation is not None and speculation.draft is not None:
        techniques = replace(plan.techniques, speculation=None)
        draft = step_of(replace(plan, model=speculation.draft, techniques=techniques))
    return Service(plan, step_of(plan), draft, mix)
