"""The doctor: what is wrong with a connection, whose fault it is, and how to mend it.

    report = await mesero.doctor.examine(["npx", "-y", "some-server"])

``checks`` look layer by layer, ``texts`` has what is said of what they find, ``judging`` lets the audit judge
the recording. ``examine_all`` looks at many servers side by side. Tools are called only where that was asked
for.
"""

from mesero.doctor.examine import examine
from mesero.doctor.overview import Overview, Patient, examine_all
from mesero.doctor.report import Check, Diagnosis, Report
from mesero.doctor.sheet import Watch

__all__ = ["Check", "Diagnosis", "Overview", "Patient", "Report", "Watch", "examine", "examine_all"]
