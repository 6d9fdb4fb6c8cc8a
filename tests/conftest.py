"""What holds for every test."""

from hypothesis import HealthCheck, settings

# An example is judged by what it does; how long it takes depends on who else uses the machine.
settings.register_profile("mesero", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mesero")
