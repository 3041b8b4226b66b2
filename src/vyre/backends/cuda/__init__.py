"""The backend `cuda`: NVRTC and the driver."""
