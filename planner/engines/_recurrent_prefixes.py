"""How an engine keeps the prefixes of models with recurrent layers, whose state stands for a whole prompt.

`none`: not at all. `align`: the state at the end of each step that stops at a block boundary, so that a sequence holds
two, the running one and the kept one. `all`: the state at every block boundary. A hit ends at a boundary either way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from planner.domain.model import Model

Mode = Literal["none", "align", "all"]
_WEAKEST: tuple[Mode, ...] = ("none", "align", "all")


def mode(model: Model, supported: Mapping[str, Mode]) -> Mode:
    """The mode of the model's least supported recurrent layer; `all` where it has none.

    supported: {mixer kind: mode}, with `other` for the kinds not named.
    """
    kinds = {mixer.kind for group in model.groups for mixer in group.mixers if mixer.state is not None}
    found = [supported.get(kind, supported.get("other", "none")) for kind in kinds]
    return min(found, key=_WEAKEST.index, default="all")
