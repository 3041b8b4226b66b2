"""Lets the tests of this folder import its helper modules under every import mode of pytest."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
