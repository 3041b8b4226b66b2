"""Wrong float arithmetic: what processors, languages, libraries and optimisers do instead of IEEE 754."""
