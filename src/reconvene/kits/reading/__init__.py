"""What a remark means: its kind, its figures, how much it weighs, whom it concerns."""
