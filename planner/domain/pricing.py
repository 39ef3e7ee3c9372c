"""What the same tokens cost as a service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiPrice:
    """USD a million tokens. cached: of prompt tokens that the service finds in its cache; None: as input.

    date: ISO date on which it held.
    """

    input_usd: float
    output_usd: float
    cached_usd: float | None = None
    name: str = ""
    date: str = ""

    def request_usd(self, prompt: float, cached: float, output: float) -> float:
        """USD of one request: ((prompt - cached) x input + cached x cached price + output x output) / 1e6.

        prompt, cached (of the prompt), output: tokens.
        """
        found = self.input_usd if self.cached_usd is None else self.cached_usd
        return ((prompt - cached) * self.input_usd + cached * found + output * self.output_usd) / 1e6
