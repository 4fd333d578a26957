"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# How fast a machine is never decides a test. All else stays as Hypothesis has it, such as drawing the same
# examples in each run under CI.
settings.register_profile("turnout", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("turnout")
