"""A recording as a sequence diagram: as text, for Mermaid, or as a page to look around in.

`Builder` makes a `Drawing` of the lines of a recording; `drawing_text`, `drawing_mermaid` and `drawing_html`
show it. Nothing here reads a recording or writes a file.
"""

from mesero.diagram.building import Builder, Limits
from mesero.diagram.html import drawing_html
from mesero.diagram.mermaid import drawing_mermaid
from mesero.diagram.model import Drawing
from mesero.diagram.text import drawing_text

__all__ = ["Builder", "Drawing", "Limits", "drawing_html", "drawing_mermaid", "drawing_text"]
