"""SigLIP and CLIP encoders with a projector: Gemma 3, PaliGemma, LLaVA, SmolVLM and Idefics 3."""

from __future__ import annotations

from planner.architectures.encoder import Encoder, product, vector
from planner.architectures.fields import Fields
from planner.architectures.towers import pixtral
from planner.domain.model import Weight

MODEL_TYPES = (
    "gemma3", "paligemma", "llava", "llava_next", "idefics3", "smolvlm", "llava_onevision", "cohere2_vision",
)  # fmt: skip


def read(root: Fields, hidden: int) -> tuple[Weight, ...]:
    if not root.has("vision_config"):
        return ()
    vision = root.below("vision_config")
    if vision.text("model_type") == "pixtral":
        return pixtral.read(root, hidden)
    size = vision.optional("hidden_size") or (1024 if "clip" in vision.text("model_type") else 1152)
    with_head = root.text("model_type") == "cohere2_vision"
    return (*encoder(vision, size, with_head=with_head), *_projector(root, vision, size, hidden))


def encoder(vision: Fields, size: int, *, with_head: bool = False) -> tuple[Weight, ...]:
    """Patches and positions; CLIP adds a class token and norms before and after, SigLIP one after."""
    clip = "clip" in vision.text("model_type") and "siglip" not in vision.text("model_type")
    patch = vision.optional("patch_size") or (32 if clip else 14)
    image = vision.optional("image_size") or (224 if clip else 384)
    layers = vision.optional("num_hidden_layers") or (12 if clip else 27)
    inner = vision.optional("intermediate_size") or (4 * size if clip else 4304)
    count = (image // patch) ** 2
    around = (count + 1) * size + size + 4 * size if clip else count * size + 2 * size
    head = _pooling(size, inner) if not clip and vision.flag("vision_use_head", default=with_head) else ()
    return (
        *product("vision_tower.patch_embedding", size, 3 * patch * patch, bias=not clip),
        vector("vision_tower.positions_norms", around),
        *Encoder(size, layers, inner).weights(),
        *head,
    )


def _pooling(size: int, inner: int) -> tuple[Weight, ...]:
    """SigLIP's attention pooling."""
    return (
        vector("vision_tower.head.probe_norm", 3 * size),
        *product("vision_tower.head.attention", 4 * size, size, bias=True),
        *product("vision_tower.head.fc1", inner, size, bias=True),
        *product("vision_tower.head.fc2", size, inner, bias=True),
    )


def _projector(root: Fields, vision: Fields, size: int, hidden: int) -> tuple[Weight, ...]:
    kind, at = root.text("model_type"), "multi_modal_projector"
    if kind == "gemma3":
        return (*product(at, hidden, size), vector(f"{at}.norm", size))
    if kind == "paligemma":
        return product(at, root.optional("projection_dim") or hidden, size, bias=True)
    if kind in ("idefics3", "smolvlm"):
        return product(at, hidden, size * (root.optional("scale_factor") or 2) ** 2)
    if kind == "cohere2_vision":
        inner = root.optional("alignment_intermediate_size") or 36864
        joined = size * (root.optional("downsample_factor") or 2) ** 2
        second = product(f"{at}.linear_2", hidden, inner // 2, bias=True)
        return (*product(f"{at}.linear_1", inner, joined, bias=True), *second)
    bias = root.flag("multimodal_projector_bias", default=True)
    image = vector("image_newline", hidden) if kind in ("llava_next", "llava_onevision") else None
    first = product(f"{at}.linear_1", hidden, size, bias=bias)
    return (*first, *product(f"{at}.linear_2", hidden, hidden, bias=bias), *((image,) if image else ()))
