"""Writes NaN."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "_meta": {"score": float("nan")}}])
