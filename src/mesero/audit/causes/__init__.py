"""The causes, one file for each group of symptoms; `mesero.audit.diagnosis` loads them.

Causes of one symptom are tried in the order in which they stand: the most telling evidence first.
"""
