"""The backend `cpu`: LLVM, threads, and the protection of both."""
