"""What `planner explain` says of findings about files and their text."""

from __future__ import annotations

from collections.abc import Mapping

READING: Mapping[str, str] = {
    "file-not-found": "There is nothing at this path. The run could not judge it, so its exit status is 2.",
    "file-none-matched": (
        "A folder stands for every `*.yaml` below it with `apiVersion: planner/…`, and this one has none.\n"
        "A gate that finds nothing to judge does not pass: its exit status is 2."
    ),
    "file-is-folder": "A file is wanted here, and the path is a folder.",
    "file-not-regular": "Only regular files are read: no devices, pipes or sockets.",
    "file-unreadable": "The operating system does not let the file be read, or its links run in a circle.",
    "file-outside-project": (
        "A link leads out of the project. A spec is untrusted text, so nothing outside the nearest folder with a\n"
        "`planner.yaml` or a git work tree is read."
    ),
    "file-too-large": "A spec is read whole, so its size is limited. Split it with `extends`.",
    "file-encoding": "Specs are UTF-8. Save the file as UTF-8; the finding names the first byte that is not.",
    "yaml-syntax": "The text is not YAML. It ends the file: what follows cannot be trusted to mean what it says.",
    "yaml-tab": "YAML indents with spaces; a tab there is an error of its own, because it cannot be seen.",
    "yaml-empty": "The file holds nothing. `planner init` writes a spec to start from.",
    "yaml-not-a-map": "A document is a map of keys (`key: value` lines), not a list or a single value.",
    "yaml-documents": "One file, one document. Give the second its own file.",
    "yaml-duplicate-key": "A key stands twice in one map. Many readers keep the last without a word.",
    "yaml-key": "A key must be text. Quote a key that looks like a number, and a value that begins with `{` or `[`.",
    "yaml-merge-key": "Merge keys (`<<`) are not part of YAML 1.2. Write the keys out, or use `extends`.",
    "yaml-tag": "Explicit tags (`!!float`, `!python/…`) are not read: a value means what it looks like.",
    "yaml-number": "A number that no one can have meant: too many digits to hold, or not finite.",
    "yaml-alias": "An alias (`*name`) names an anchor (`&name`) that is not written above it.",
    "yaml-recursive-alias": "An alias lies inside its own anchor, so the value would contain itself.",
    "yaml-expansion": "Anchors expand to more values than a spec can need. Write the values out, or use `extends`.",
    "yaml-size": "More values in one file than a spec can need.",
    "yaml-depth": "Nested deeper than a spec can need.",
    "yaml-control-character": "A character that cannot be seen stands in the text. Delete it.",
    "extends-not-a-path": "`extends` takes the path of one file, relative to the file that says so.",
    "extends-cycle": "A file extends itself through others.",
    "extends-depth": "A longer chain of `extends` than anyone can follow. Merge some of the files.",
    "extends-kind": "A spec extends a `kind: Base`, or a file of its own kind.",
    "extends-removes-nothing": "`null` removes an inherited value, and there is none of that name to remove.",
    "reference-not-a-path": (
        "A reference is a path relative to the file that writes it, with `/`: no address, no absolute path, no `~`.\n"
        "Nothing is fetched."
    ),
    "reference-not-found": "The file that is referred to is not there. The path starts at the file that writes it.",
    "reference-outside-project": "A reference leads out of the project. Move the file into it.",
    "set-syntax": "`--set` takes `/path/to/key=value`: a JSON pointer, `=`, and a value as YAML reads it.",
    "set-unknown-path": "`--set` leads through something that is not there, or that cannot be set.",
    "catalogue-folder-not-found": (
        "`planner.yaml` names a catalogue folder that is not a folder inside the project. Make it, or remove the line."
    ),
}
