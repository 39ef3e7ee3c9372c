"""What `planner explain` says of findings about what a spec declares, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Mapping

DECLARED: Mapping[str, str] = {
    "unknown-key": "The schema knows no such key here. The hint names the nearest; `planner schema` prints them all.",
    "misplaced-key": "The key exists, but not here. The hint says where it belongs.",
    "missing-key": "A key that must be there is not.",
    "conflicting-keys": "Keys that exclude each other stand together: keep one of them.",
    "wrong-type": "The value is of another kind than the key takes: text for a number, a list for a mapping.",
    "not-allowed-value": "The key takes one of a few words, and this is none of them.",
    "out-of-range": "The number is outside of what the key can mean.",
    "not-in-order": "Percentiles, or a minimum and a maximum, are the wrong way round.",
    "not-a-date": "A date is written as `2027-01-31`.",
    "version-not-text": "A version is text: an unquoted `0.10` is the number 0.1. Quote it.",
    "unit-error": (
        "A quantity needs its unit, spelled as in the hint. `80 GB` and `80 GiB` are different numbers,\n"
        "`80 Gb` are bits, and a bare `80` is nothing."
    ),
    "unknown-api-version": "This program reads `apiVersion: planner/v1`.",
    "unknown-kind": "No document has this `kind`. `planner schema` knows the kinds.",
    "unknown-format": "No precision or checkpoint format has this name. The hint names the nearest.",
    "unknown-accelerator": (
        "The catalogue has no such accelerator. `planner catalog list accelerators` prints all; figures of one that\n"
        "is not there can be written in its place: `{memory: 80 GB, bandwidth: 1 TB/s, compute: {…}}`."
    ),
    "unknown-model": (
        "The catalogue has no such model. Give its `config.json` with `config: ./config.json`, or import it with\n"
        "`planner import model`."
    ),
    "unknown-finding": (
        "`planner.yaml` sets the severity of a finding that there is none of, so it sets nothing. The hint names the\n"
        "nearest."
    ),
    "reports-outside-project": (
        "`planner.yaml` names a report folder outside of the project. It is untrusted text, and does not decide that\n"
        "files are written elsewhere; `--directory` does."
    ),
    "project-not-a-project": "A `planner.yaml` marks the root of a project and is of `kind: Project`; this one is not.",
    "unknown-table": (
        "An accelerator's figures name a table of measured shares or collectives that the catalogue does not have.\n"
        "General figures are taken in its place, and the estimate is the worse for it."
    ),
    "catalogue-entry": "The catalogue's file of this name cannot be used; the message says why.",
    "duplicate-name": "Two items of one list have one name, so nothing could tell them apart.",
    "shares-do-not-add-up": "The shares of the request classes, or of an accelerator's slices, must add up to one.",
    "count-mismatch": "`count` and the accelerators that are listed disagree.",
    "figures-disagree": (
        "Two declared figures cannot both be true: of the model, or of the lengths of requests. A mean lies between\n"
        "what its percentiles allow, and what every prompt begins with is in the shortest of them."
    ),
    "contradicting-lever": (
        "A key of the engine or the model is a lever, and the stack says the opposite. One switch, one meaning:\n"
        "say it in one place."
    ),
    "lever-parameter": "A parameter of a lever cannot be used with this model or engine.",
    "modelled-argument": "`engine.args` keeps flags that the planner does not model. It models this one: use its key.",
    "memory-unit-doubt": (
        "A declared memory differs from the catalogue's by the ratio of GB to GiB, which is a slip of the unit more\n"
        "often than a different card."
    ),
    "too-many-errors": "The file has more errors than are printed. Correct these, and run again.",
    "model-config-not-json": "The model's config file is not JSON.",
    "model-config-unreadable": "The model's config file cannot be read.",
    "model-config-missing-field": "The model's config lacks a field that its family needs.",
    "model-config-bad-value": "A field of the model's config holds what it cannot mean.",
    "model-config-quantization-unknown": "The config names a quantisation that is not known; bytes would be guessed.",
    "model-config-tower-unknown": "The vision or audio encoder is not known; its weights are not counted.",
    "model-config-heads": "The model's heads do not divide as its family needs.",
    "model-config-figures": "The figures of an `architecture` contradict each other, or say too little.",
    "model-type-unknown": "The config's model type is not known; it is read like Llama. Compare the count.",
    "model-document-missing-field": "A `kind: Model` document lacks a field.",
    "model-document-bad-value": "A field of a `kind: Model` document holds what it cannot mean.",
    "model-document-kind": "The document is not of the kind or version that is read here.",
    "model-document-unknown-key": "A `kind: Model` document has a key that it does not know.",
    "model-document-layers": "The layer groups of a model document overlap, or leave a layer out.",
    "model-document-weight": "A weight of a model document is not written as one.",
    "model-document-parameters": "The weights of a model document do not add up to the parameter count that it states.",
    "model-gguf-malformed": "The file is not GGUF, or its header cannot be read.",
    "model-gguf-missing-field": "The GGUF file's header lacks a field that its family needs.",
    "model-gguf-bad-value": "A field of the GGUF file's header holds what it cannot mean.",
    "model-gguf-architecture": "The GGUF file is of an architecture that is not known.",
    "model-gguf-tensors": "The GGUF file lacks the tensors that every model has.",
    "model-gguf-truncated": "The GGUF file ends before its tensors do. Download it again.",
    "model-weight-bytes-differ": "The checkpoint's index states another size than the weights that were read.",
    "trace-not-read": (
        "A trace cannot be read: CSV with a header, or JSON Lines, gzipped or not, one request a line with its\n"
        "time of arrival and its tokens in and out. The columns of the traces of Azure, BurstGPT, Mooncake and\n"
        "Bailian are known. What is not known is not invented: without the file nothing is judged."
    ),
    "measurement-not-read": (
        "A file with measurements cannot be used: it is of no known format, is cut off or too large, or lacks the\n"
        "load, the lengths or the figures that a run needs. The message says which. Nothing is invented."
    ),
    "measurement-kind": "A YAML file that is given as a measurement must be a document of `kind: Measurement`.",
    "calibration-of-ideal": "The engine `ideal` charges peaks by definition: nothing that is measured can correct it.",
    "calibration-kind": "`calibration` names a document of another kind. `planner calibrate` writes a Calibration.",
    "waiver-expired": (
        "A waiver is over: what it excused counts again, and the waiver itself is an error until it is\n"
        "removed or renewed."
    ),
    "waiver-unused": "A waiver excuses nothing: no finding of that id stands at that place.",
}
