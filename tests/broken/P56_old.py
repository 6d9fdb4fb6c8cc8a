"""Declares an older dialect in an outputSchema."""

from lines import TOOL, serve

schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
serve(tools=[TOOL, {**TOOL, "name": "read", "outputSchema": schema}])
