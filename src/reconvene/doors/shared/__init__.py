"""What every door needs of a checkpoint beside drawing it. Pure functions over the read model; no door is imported.

Which option was meant (`options`), which fields are open and what they take (`fields`), what stands beside a
decision and why (`advice`), how a remark is read before it is recorded (`remarks`, `form`).
"""
