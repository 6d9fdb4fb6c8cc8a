"""A container that got no stdin."""
