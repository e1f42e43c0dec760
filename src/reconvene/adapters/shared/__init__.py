"""What several adapters need of the system: files below a folder, a program in a group of its own, an attempt's folder.

No adapter is known here.
"""
