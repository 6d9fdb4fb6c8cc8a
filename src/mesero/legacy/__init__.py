"""The adapter for the revisions that begin with a handshake: 2024-11-05 to 2025-11-25.

What lives here: the handshake as a state table (`handshake`), which methods each revision has (`methods`),
and the translation between the public vocabulary of `mesero.types` and each revision's own shapes
(`translate`, with `shapes`, `contents`, `schemas`, `forms`, `sampling` and `upwards` below it). Those are
pure: no clock, no socket, nothing async.
Invariants: only `mesero.eras` imports this package; deleting the folder leaves a package that speaks the
stateless revisions.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""
