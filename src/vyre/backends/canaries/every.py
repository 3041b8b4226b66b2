"""All canaries, in the order in which they are run. Making them takes longer than looking a verdict up."""

from __future__ import annotations

from vyre.backends.canaries.float_programs import FLOAT_CANARIES
from vyre.backends.canaries.programs import INTEGER_CANARIES

CANARIES = INTEGER_CANARIES + FLOAT_CANARIES
