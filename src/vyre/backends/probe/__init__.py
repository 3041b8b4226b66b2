"""Whether native float instructions of a device are strict, tried before they are used."""
