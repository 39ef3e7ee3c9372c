"""What each lever changes of a plan, where it does nothing, and what it refuses; sizes by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from planner import levers
from planner.domain.accelerator import HostMemory
from planner.domain.model import LayerGroup
from planner.domain.plan import Plan
from planner.domain.workload import Load, Prefix, Queue, RequestClass, Session


def changed(before: Plan, after: Plan) -> set[str]:
    """Names of the fields that differ."""
    return {item.name for item in fields(Plan) if getattr(before, item.name) != getattr(after, item.name)}


def pull(plan: Plan, use: Any) -> Plan:
    assert levers.get(use.use).applies(plan, use) == ""
    return levers.pulled(plan, use)


def idle(plan: Plan, use: Any) -> str:
    """The reason why it does nothing; the plan stays as it is."""
    reason = levers.get(use.use).applies(plan, use)
    assert reason
    assert levers.pulled(plan, use) is plan
    return reason


def with_prompt(worked: Any, prompt: float = 6000, output: float = 100, **changes: Any) -> RequestClass:
    return RequestClass("chat", prompt=worked.length(prompt), output=worked.length(output), **changes)


class TestSwitches:
    @pytest.mark.parametrize(
        ("name", "technique", "key", "value"),
        [
            ("continuous-batching", "continuous_batching", None, None),
            ("exact-attention-kernel", "exact_attention_kernel", None, None),
            ("cuda-graphs", "cuda_graphs", "enforce_eager", False),
            ("chunked-prefill", "chunked_prefill", "enable_chunked_prefill", True),
            ("prefix-caching", "prefix_caching", "enable_prefix_caching", True),
        ],
    )
    def test_turns_on_one_technique_and_its_key(
        self, worked: Any, use: Any, name: str, technique: str, key: str | None, value: bool | None
    ) -> None:
        chat = with_prompt(worked, prefix=Prefix(shared_tokens=800))
        plan = worked.plan(classes=(chat,), engine="vllm", max_num_batched_tokens=2048)
        after = pull(plan, use(name))
        assert getattr(after.techniques, technique) is True
        assert replace(after.techniques, **{technique: False}) == plan.techniques
        if key is None:
            assert changed(plan, after) == {"techniques"}
        else:
            assert changed(plan, after) == {"techniques", "engine"}
            assert getattr(after.engine, key) is value
            assert after.engine.origins == {key: "lever"}

    @pytest.mark.parametrize(
        "name", ["continuous-batching", "exact-attention-kernel", "cuda-graphs", "chunked-prefill"]
    )
    def test_does_nothing_on_the_ideal_engine(self, worked: Any, use: Any, name: str) -> None:
        assert "`ideal`" in idle(worked.plan(classes=(with_prompt(worked),)), use(name))

    def test_batching_needs_two_requests_at_a_time(self, worked: Any, use: Any) -> None:
        chat = with_prompt(worked)
        single = worked.plan(classes=(chat,), engine="vllm", concurrency=1)
        assert "1 at a time" in idle(single, use("continuous-batching"))
        robot = replace(single, workload=replace(single.workload, load=Load("period", period_s=0.1)))
        assert "control loop" in idle(robot, use("continuous-batching"))

    def test_scores_need_attention_and_a_prompt(self, worked: Any, use: Any) -> None:
        kernel = use("exact-attention-kernel")
        assert "no attention" in idle(worked.plan(model=worked.recurrent(), engine="vllm"), kernel)
        assert "no class declares a prompt" in idle(worked.plan(engine="vllm"), kernel)

    def test_graphs_need_a_card_that_has_them(self, worked: Any, use: Any) -> None:
        plan = worked.plan(classes=(with_prompt(worked),), engine="llama-cpp")
        (card,) = plan.hardware.cards
        apple = replace(plan, hardware=replace(plan.hardware, cards=(replace(card, vendor="Apple"),)))
        assert "no CUDA or HIP graphs" in idle(apple, use("cuda-graphs"))

    def test_chunking_needs_a_prompt_above_the_budget(self, worked: Any, use: Any) -> None:
        plan = worked.plan(classes=(with_prompt(worked, prompt=2000),), engine="vllm", max_num_batched_tokens=2048)
        assert "within the budget of 2,048" in idle(plan, use("chunked-prefill"))
        # The engine's own default, where none is declared, is at least 2,048.
        assert "within the budget" in idle(
            worked.plan(classes=(with_prompt(worked, prompt=500),), engine="vllm"), use("chunked-prefill")
        )
        # Three images of 100 tokens on top: 2,300 tokens are above it.
        image = with_prompt(worked, prompt=2000, image_count=3, image_tokens=100)
        pull(worked.plan(classes=(image,), engine="vllm", max_num_batched_tokens=2048), use("chunked-prefill"))

    def test_prefix_caching_needs_a_prefix(self, worked: Any, use: Any) -> None:
        caching = use("prefix-caching")
        assert "no class declares a prefix" in idle(worked.plan(classes=(with_prompt(worked),)), caching)
        none = with_prompt(worked, prefix=Prefix(hit_rate=0.0))
        assert "no class declares a prefix" in idle(worked.plan(classes=(none,)), caching)
        short = with_prompt(worked, prefix=Prefix(shared_tokens=12))
        assert "do not fill a block of 16" in idle(worked.plan(classes=(short,), block_size=16), caching)
        pull(worked.plan(classes=(with_prompt(worked, prefix=Prefix(hit_rate=0.5)),)), caching)
        # The second turn of a session sends the first again.
        pull(worked.plan(classes=(with_prompt(worked, session=Session(turns=2)),)), caching)

    def test_prefix_caching_does_nothing_for_recurrent_layers(self, worked: Any, use: Any) -> None:
        chat = with_prompt(worked, prefix=Prefix(shared_tokens=800))
        assert "recurrent" in idle(worked.plan(model=worked.recurrent(), classes=(chat,)), use("prefix-caching"))


class TestSpeculativeDecoding:
    def draft_model(self, use: Any, **parameters: Any) -> Any:
        return use(
            "speculative-decoding", method="draft_model", draft={"ref": "small"}, num_speculative_tokens=4, **parameters
        )

    def test_records_what_the_physics_needs(self, worked: Any, use: Any) -> None:
        plan = worked.plan()
        after = pull(plan, self.draft_model(use, acceptance_length=2.77))
        assert changed(plan, after) == {"techniques"}
        speculation = after.techniques.speculation
        assert speculation is not None
        assert (speculation.method, speculation.proposed, speculation.tokens_per_step) == ("draft_model", 4, 2.77)
        assert speculation.draft == worked.draft()
        assert not speculation.lossy

    def test_three_ways_to_say_the_acceptance(self, worked: Any, use: Any) -> None:
        def tokens(**acceptance: Any) -> float:
            speculation = pull(worked.plan(), self.draft_model(use, **acceptance)).techniques.speculation
            assert speculation is not None
            return speculation.tokens_per_step

        assert tokens(acceptance_length=3) == 3.0
        # 1 + 0.8 + 0.6 + 0.4 + 0.2
        assert tokens(acceptance_per_position=[0.8, 0.6, 0.4, 0.2]) == pytest.approx(3.0)
        # 1 + 1/2 + 1/4 + 1/8 + 1/16
        assert tokens(acceptance_probability=0.5) == pytest.approx(1.9375)

    @pytest.mark.parametrize(
        ("acceptance", "parameter", "part"),
        [
            ({"acceptance_length": 5.5}, "acceptance_length", "from 1 to 5"),
            ({"acceptance_length": 0.5}, "acceptance_length", "from 1 to 5"),
            ({"acceptance_per_position": [0.8, 0.6]}, "acceptance_per_position", "2 rates for 4"),
            ({"acceptance_per_position": [0.8, 0.9, 0.5, 0.4]}, "acceptance_per_position", "rates rise"),
            ({}, "", "no acceptance is declared"),
            ({"acceptance_length": 2.0, "acceptance_probability": 0.5}, "acceptance_probability", "said twice"),
        ],
    )
    def test_refuses_an_impossible_acceptance(
        self, use: Any, context: Any, acceptance: dict[str, Any], parameter: str, part: str
    ) -> None:
        self.draft_model(use, **acceptance)
        (fault,) = context.faults
        assert fault[0] == parameter
        assert part in fault[1]

    def test_the_largest_length_is_bonus_included(self, use: Any, context: Any) -> None:
        self.draft_model(use, acceptance_length=5)  # k + 1: everything accepted
        assert context.faults == []

    def test_refuses_a_method_that_does_not_fit_its_draft(self, use: Any, context: Any) -> None:
        use("speculative-decoding", method="draft_model", num_speculative_tokens=4, acceptance_length=2)
        use(
            "speculative-decoding", method="ngram", draft={"ref": "small"}, num_speculative_tokens=4,
            acceptance_length=2,
        )  # fmt: skip
        assert [parameter for parameter, _, _ in context.faults] == ["", "draft"]

    def test_does_nothing_with_a_draft_as_large_as_the_target(self, worked: Any, use: Any) -> None:
        same = use(
            "speculative-decoding", method="draft_model", draft={"ref": "target"}, num_speculative_tokens=4,
            acceptance_length=2,
        )  # fmt: skip
        assert "must be smaller" in idle(worked.plan(), same)

    def test_does_nothing_across_vocabularies(self, worked: Any, use: Any) -> None:
        plan = worked.plan(model=worked.model(vocabulary=128_256))
        assert "draft 32,000, target 128,256" in idle(plan, self.draft_model(use, acceptance_length=2))

    def test_does_nothing_where_nothing_is_accepted(self, worked: Any, use: Any) -> None:
        assert "one token" in idle(worked.plan(), self.draft_model(use, acceptance_probability=0.0))

    def test_prediction_layers_must_exist(self, worked: Any, use: Any) -> None:
        mtp = use("speculative-decoding", method="mtp", num_speculative_tokens=1, acceptance_length=1.87)
        assert "no multi-token-prediction layers" in idle(worked.plan(), mtp)
        own = worked.model().groups[0]
        model = worked.model(prediction_layers=(LayerGroup((32,), own.mixers, own.feed_forwards),))
        speculation = pull(worked.plan(model=model), mtp).techniques.speculation
        assert speculation is not None
        assert speculation.draft is None

    def test_an_eagle_drafter_is_one_layer_of_the_target(self, worked: Any, use: Any) -> None:
        eagle = use("speculative-decoding", method="eagle3", num_speculative_tokens=4, acceptance_length=3)
        plan = worked.plan()
        after = pull(plan, eagle)
        assert changed(plan, after) == {"techniques", "assumptions"}
        speculation = after.techniques.speculation
        assert speculation is not None
        assert speculation.draft.layers == 1
        assert speculation.draft.parameters == 218_750_000  # 7e9 / 32


class TestQuantisation:
    def test_weights_change_their_format(self, worked: Any, use: Any) -> None:
        plan = worked.plan()
        after = pull(plan, use("quantize-weights", format="int8"))
        assert changed(plan, after) == {"model"}
        assert {weight.format for _, weight in after.model.weights()} == {"int8"}
        assert after.model.parameters == 7_000_000_000

    def test_weights_in_the_format_stay(self, worked: Any, use: Any) -> None:
        int8 = use("quantize-weights", format="int8")
        assert "stored so already" in idle(pull(worked.plan(), int8), int8)
        assert "stored so already" in idle(worked.plan(), use("quantize-weights", format="fp16"))

    def test_a_checkpoint_replaces_the_model(self, worked: Any, use: Any, context: Any) -> None:
        quantised = pull(worked.plan(), use("quantize-weights", format="int4")).model
        context.models = {"theirs": replace(quantised, name="theirs")}
        plan = worked.plan()
        after = pull(plan, use("quantize-weights", checkpoint={"ref": "theirs"}))
        assert after.model.name == "theirs"
        assert context.faults == []

    @pytest.mark.parametrize(
        ("parameters", "parameter", "part"),
        [
            ({}, "", "neither"),
            ({"format": "int8", "checkpoint": {"ref": "target"}}, "checkpoint", "a format and a checkpoint"),
            ({"checkpoint": {"ref": "small"}}, "checkpoint", "another model"),
            ({"format": "int88"}, "format", "`int88` is not a format"),
            ({"checkpoint": {"ref": "target", "weights": "awq"}}, None, ""),
            ({"checkpoint": {"ref": "target", "weights": "awk"}}, "checkpoint", "`awk` is not a format"),
        ],
    )
    def test_refuses_what_is_no_quantisation(
        self, use: Any, context: Any, parameters: dict[str, Any], parameter: str | None, part: str
    ) -> None:
        use("quantize-weights", **parameters)
        if parameter is None:
            assert context.faults == []
            return
        (fault,) = context.faults
        assert fault[0] == parameter
        assert part in fault[1]

    def test_a_cache_changes_its_precision(self, worked: Any, use: Any) -> None:
        plan = worked.plan()
        after = pull(plan, use("quantize-kv-cache", format="fp8"))
        assert changed(plan, after) == {"cache_format", "engine"}
        assert after.cache_format == "fp8"
        assert after.engine.kv_cache_dtype == "fp8"
        assert after.engine.origins == {"kv_cache_dtype": "lever"}

    def test_a_cache_in_the_precision_stays(self, worked: Any, use: Any) -> None:
        fp8 = use("quantize-kv-cache", format="fp8_e4m3")
        assert "in fp8 already" in idle(worked.plan(model=worked.model(cache_format="fp8")), fp8)
        assert "in fp8 already" in idle(replace(worked.plan(), cache_format="fp8"), fp8)
        assert "in fp16 already" in idle(worked.plan(), use("quantize-kv-cache", format="fp16"))

    def test_a_state_is_no_cache(self, worked: Any, use: Any) -> None:
        assert "keeps no cache" in idle(worked.plan(model=worked.recurrent()), use("quantize-kv-cache", format="fp8"))


def cached_values(plan: Plan, tokens: int) -> int:
    """Values that a sequence of `tokens` keeps, over all layers."""
    return sum(
        count * entry.elements * min(tokens, entry.window or tokens) for count, entry in plan.model.cache_entries()
    )


class TestAttention:
    def test_a_window_bounds_what_is_kept_and_seen(self, worked: Any, use: Any) -> None:
        plan = worked.plan()
        after = pull(plan, use("sliding-window-attention", window=4096))
        assert changed(plan, after) == {"model"}
        assert cached_values(plan, 8192) == 32 * 2048 * 8192
        assert cached_values(after, 8192) == 32 * 2048 * 4096
        assert {mixer.window for group in after.model.groups for mixer in group.mixers} == {4096}
        assert after.model.parameters == plan.model.parameters

    @pytest.mark.parametrize(
        ("layers", "windowed"),
        [
            # Each second of 32: layers 1, 3, ..., 31.
            ({"every": 2}, tuple(range(1, 32, 2))),
            # All but each sixth, which are 5, 11, 17, 23, 29.
            ({"all_but_every": 6}, tuple(layer for layer in range(32) if layer not in (5, 11, 17, 23, 29))),
        ],
    )
    def test_some_layers(self, worked: Any, use: Any, layers: dict[str, int], windowed: tuple[int, ...]) -> None:
        after = pull(worked.plan(), use("sliding-window-attention", window=1024, layers=layers))
        found = {group.mixers[0].kind: group.layers for group in after.model.groups}
        assert found["sliding-attention"] == windowed
        assert sorted((*found["sliding-attention"], *found["full-attention"])) == list(range(32))
        kept = len(windowed) * 1024 + (32 - len(windowed)) * 8192
        assert cached_values(after, 8192) == 2048 * kept

    def test_a_window_as_long_as_the_context(self, worked: Any, use: Any) -> None:
        window = use("sliding-window-attention", window=8192)
        assert "no shorter than the longest context, 8,192" in idle(worked.plan(), window)
        # An engine that promises longer sequences keeps them too.
        pull(worked.plan(engine="vllm", max_model_len=16384), window)

    def test_no_full_attention_to_change(self, worked: Any, use: Any) -> None:
        for name, parameters in (
            ("sliding-window-attention", {"window": 8}),
            ("sparse-attention", {"selected_tokens": 8}),
        ):
            assert "no full-attention layer" in idle(worked.plan(model=worked.recurrent()), use(name, **parameters))

    def test_sparse_attention_reads_less_and_keeps_all(self, worked: Any, use: Any) -> None:
        plan = worked.plan()
        after = pull(plan, use("sparse-attention", selected_tokens=2048))
        assert changed(plan, after) == {"model", "assumptions"}
        assert cached_values(after, 8192) == cached_values(plan, 8192)
        assert {mixer.sparse_tokens for group in after.model.groups for mixer in group.mixers} == {2048}

    def test_sparse_attention_that_selects_all(self, worked: Any, use: Any) -> None:
        assert "all of the longest context" in idle(worked.plan(), use("sparse-attention", selected_tokens=8192))


class TestLossyAcceptance:
    def speculating(self, worked: Any, use: Any) -> Plan:
        return levers.pulled(
            worked.plan(),
            use("speculative-decoding", method="ngram", num_speculative_tokens=4, acceptance_length=2.5),
        )

    def test_more_tokens_a_step_and_marked(self, worked: Any, use: Any) -> None:
        plan = self.speculating(worked, use)
        after = pull(plan, use("lossy-acceptance", acceptance_length=3.5))
        assert changed(plan, after) == {"techniques"}
        speculation = after.techniques.speculation
        assert speculation is not None
        assert (speculation.tokens_per_step, speculation.lossy, speculation.proposed) == (3.5, True, 4)

    def test_does_nothing_alone_or_without_gain(self, worked: Any, use: Any) -> None:
        assert "speculative decoding is off" in idle(worked.plan(), use("lossy-acceptance", acceptance_length=3))
        plan = self.speculating(worked, use)
        # 1 + 0.5 + 0.25 + 0.125 + 0.0625 = 1.94 tokens, below 2.5.
        assert "1.94 tokens a step are no more" in idle(plan, use("lossy-acceptance", acceptance_probability=0.5))
        assert "from 1 to 5" in idle(plan, use("lossy-acceptance", acceptance_length=7))

    def test_needs_an_acceptance(self, use: Any, context: Any) -> None:
        use("lossy-acceptance")
        assert [message for _, message, _ in context.faults] == ["no acceptance is declared, and none is assumed"]


class TestDisaggregatedPrefill:
    def test_keeps_the_two_overlays_for_the_binding(self, worked: Any, use: Any) -> None:
        two = use(
            "disaggregated-prefill", prefill={"hardware": {"replicas": 2}}, decode={"engine": {"max_num_seqs": 64}}
        )
        assert two.parameters == {
            "prefill": {"hardware": {"replicas": 2}},
            "decode": {"engine": {"max_num_seqs": 64}},
        }
        assert "no prefill to move" in idle(worked.plan(), two)
        plan = worked.plan(classes=(with_prompt(worked),))
        assert changed(plan, pull(plan, two)) == set()

    def test_needs_a_link_between_the_pools(self, worked: Any, use: Any) -> None:
        two = use("disaggregated-prefill", prefill={}, decode={})
        unlinked = replace(two, parameters={**two.parameters, "links_bytes_per_s": None})
        plan = worked.plan(classes=(with_prompt(worked),))
        assert "no link between the pools is known" in idle(plan, unlinked)


class TestKvOffload:
    def test_records_the_host(self, worked: Any, use: Any) -> None:
        session = replace(with_prompt(worked), session=Session(4, 1.0, 100.0))
        plan = worked.plan(classes=(session,))
        plan = pull(plan, use("prefix-caching"))
        assert "no host memory" in idle(plan, use("kv-offload"))
        hardware = replace(plan.hardware, host=HostMemory(memory_bytes=512e9))
        assert "no link" in idle(replace(plan, hardware=hardware), use("kv-offload"))
        hardware = replace(plan.hardware, host=HostMemory(memory_bytes=512e9, link_bytes_per_s=55e9))
        after = pull(replace(plan, hardware=hardware), use("kv-offload"))
        assert after.techniques.kv_offload == {"memory_bytes": 512e9, "link_bytes_per_s": 55e9}

    def test_does_nothing_where_nothing_is_looked_for(self, worked: Any, use: Any) -> None:
        plan = worked.plan(classes=(with_prompt(worked),))
        host = HostMemory(memory_bytes=512e9, link_bytes_per_s=55e9)
        plan = replace(plan, hardware=replace(plan.hardware, host=host))
        assert "the prefix cache is off" in idle(plan, use("kv-offload"))
        cached = replace(plan, techniques=replace(plan.techniques, prefix_caching=True))
        assert "nothing comes again" in idle(cached, use("kv-offload"))


class TestAdmissionPolicy:
    def test_sets_the_engine_and_the_queue(self, worked: Any, use: Any, context: Any) -> None:
        policy = use("admission-policy", policy="reserve-maximum", max_queued_requests=64, queue_timeout="10 s")
        assert policy.parameters == {"policy": "reserve-maximum", "max_queued_requests": 64, "queue_timeout_s": 10.0}
        plan = worked.plan(engine="vllm")
        after = pull(plan, policy)
        assert changed(plan, after) == {"engine", "workload"}
        assert after.workload.queue == Queue(64, 10.0)
        assert (after.engine.admission, after.engine.origins) == ("reserve-maximum", {"admission": "lever"})
        assert "in force already" in idle(after, use("admission-policy", policy="reserve-maximum"))
        use("admission-policy")
        assert [message for _, message, _ in context.faults] == ["admission-policy sets nothing"]

    def test_a_shorter_queue_that_is_declared_stays(self, worked: Any, use: Any) -> None:
        plan = worked.plan(engine="vllm")
        plan = replace(plan, workload=replace(plan.workload, queue=Queue(16, 60.0)))
        after = pull(plan, use("admission-policy", max_queued_requests=64, queue_timeout="10 s"))
        assert after.workload.queue == Queue(16, 10.0)

    def test_the_ranks_of_a_replica_share_its_queue(self, worked: Any, use: Any) -> None:
        plan = worked.plan(engine="vllm", data_parallel_size=4)
        assert pull(plan, use("admission-policy", max_queued_requests=64)).workload.queue == Queue(16)

    def test_does_nothing_where_the_engine_does_so_already(self, worked: Any, use: Any) -> None:
        assert "on-demand is in force" in idle(worked.plan(engine="vllm"), use("admission-policy", policy="on-demand"))


def test_a_change_is_left_to_the_overlay(worked: Any, use: Any) -> None:
    plan = worked.plan()
    overlay = use("change", set={"engine": {"max_num_seqs": 8}})
    assert overlay.parameters == {"set": {"engine": {"max_num_seqs": 8}}}
    assert levers.pulled(plan, overlay) is plan
