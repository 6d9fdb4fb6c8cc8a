"""Announces prompts and does not know how to list them."""

from lines import serve

serve(capabilities={"tools": {}, "prompts": {}})
