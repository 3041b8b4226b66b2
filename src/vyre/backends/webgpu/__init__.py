"""The backends `wgpu` (Naga) and `dawn` (Tint), and what they share."""
