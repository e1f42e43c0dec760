"""What a call to a model would cost by the public price list."""

from __future__ import annotations


def expected(model: str, input_tokens: int, output_tokens: int, base_url: str = "") -> float | None:
    """USD; None where the list does not know the model, or is not installed. Behind an address of one's own only what
    is named as OpenAI's has a price."""
    provider, _, name = model.partition(":")
    if base_url and not provider.startswith("openai"):
        return None
    try:
        from genai_prices import Usage, calc_price

        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return float(calc_price(usage, name, provider_id=provider.partition("-")[0]).total_price)
    except Exception:  # a price must never fail anything
        return None
