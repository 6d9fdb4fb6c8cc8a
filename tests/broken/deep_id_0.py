"""Takes the id 0 for none."""

from calling import serve

serve(special=lambda message: not message.get("id"))
