"""Runs untrusted Python: one zygote, a fresh locked-down process for each guest."""

from memgene.sandbox.failure import FATAL, FailureKind, GuestError, SandboxUnavailableError
from memgene.sandbox.host import HostCall, HostRefusal
from memgene.sandbox.levels import Level, Probe, probe
from memgene.sandbox.limits import Limits
from memgene.sandbox.sandbox import Sandbox
from memgene.sandbox.worker import Worker

__all__ = [
    "FATAL",
    "FailureKind",
    "GuestError",
    "HostCall",
    "HostRefusal",
    "Level",
    "Limits",
    "Probe",
    "Sandbox",
    "SandboxUnavailableError",
    "Worker",
    "probe",
]
