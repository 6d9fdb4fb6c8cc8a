"""The checks, a file for each layer. They say on the sheet what they saw, and raise for nothing.

- Before anything is started: ``config``, ``launch``.
- The way to a URL: ``proxies``, ``network``, ``certificates``; what answers there: ``endpoint``, with
  ``redirects`` and ``pages``, and ``methods``, ``browsers``, ``limiting``.
- Signing in: ``authorization``, with ``challenges``, ``metadata`` and ``issuers``; ``credentials`` and
  ``tokens`` where some were sent.
- Once connected: ``protocol`` and ``tools``; ``sessions`` and ``streams`` over HTTP.
- What is done for whoever asks for it: ``calls``; ``deep``, with ``odd`` and ``midcall``; ``staying``, with
  ``idling``.
- At the end: ``shutdown``, ``rules``.
"""
