"""The doctor: what is wrong with a connection, whose fault it is, and how to mend it.

    report = await mesero.doctor.examine(["npx", "-y", "some-server"])

``checks`` look layer by layer, ``diagnoses`` has the texts, ``judging`` lets the audit judge the recording.
Tools are never called.
"""

from mesero.doctor.examine import examine
from mesero.doctor.report import Check, Diagnosis, Report

__all__ = ["Check", "Diagnosis", "Report", "examine"]
