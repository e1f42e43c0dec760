"""Reading what a person said, behind `core.feedback` and `core.significance`."""
