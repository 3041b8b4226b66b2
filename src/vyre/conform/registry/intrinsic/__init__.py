"""The specs of hardware instructions (Category C)."""
