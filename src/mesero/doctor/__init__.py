"""The doctor: what is wrong with a connection, whose fault it is, and how to mend it.

    report = await mesero.doctor.examine(["npx", "-y", "some-server"])

``checks`` look layer by layer, ``texts`` has the texts, ``judging`` lets the audit judge the recording.
Tools are called only where that was asked for.
"""

from mesero.doctor.examine import examine
from mesero.doctor.report import Check, Diagnosis, Report

__all__ = ["Check", "Diagnosis", "Report", "examine"]
