"""Certification for programs: a backend in, a certificate out.

    certificate = vyre.certify("cpu", vyre.CertifyPlan(quick=True))
    certificate.levels, certificate.failures

plan.py          what is run, and how the backend is held
certificate.py   one certificate: verify, merge, save, a page of HTML
single.py        a run on one machine
cluster.py       a run in shards on a Ray cluster

The command line parses options for `certify` and prints what it gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.certification.certificate import Certificate, RunNotes
from vyre.certification.cluster import RayCluster, certify_on
from vyre.certification.plan import CertifyPlan
from vyre.certification.single import certify_opened, opened
from vyre.conform.suite.run import CertifyProgress
from vyre.errors import VyreError, boundary

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.protocol import Backend
    from vyre.conform.certify.keys import SigningKey


@boundary
def certify(
    backend: Backend | str,
    plan: CertifyPlan | None = None,
    *,
    cluster: RayCluster | None = None,
    key: SigningKey | None = None,
    progress: Callable[[CertifyProgress], None] | None = None,
) -> Certificate:
    """Verifies a backend and gives the certificate of exactly what was shown.

    `backend` is a name such as `cpu`, a class as `module:Class`, or an instance, which runs in this process.
    `progress` is told of every finished part. A wrong backend does not raise: its certificate has
    `failures` and grants no level. Raises `VyreError` for a plan that cannot be run, or a backend that cannot
    be opened.
    """
    plan = CertifyPlan() if plan is None else plan
    if cluster is None:
        with opened(backend, plan) as (held, target):
            return certify_opened(held, target, plan, key=key, progress=progress)
    if not isinstance(backend, str):
        raise VyreError(
            "an instance of a backend cannot be sent to a cluster.", fix="name it, or write 'module:Class'."
        )
    return certify_on(cluster, backend, plan, key=key, progress=progress)


__all__ = ["Certificate", "CertifyPlan", "CertifyProgress", "RayCluster", "RunNotes", "certify"]
