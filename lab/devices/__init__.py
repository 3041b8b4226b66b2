"""What is checked on the devices of a machine, beyond a certificate."""
