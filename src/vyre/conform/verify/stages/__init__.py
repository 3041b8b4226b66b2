"""One file a stage of a run beside the ops themselves."""
