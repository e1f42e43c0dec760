"""What the log tells afterwards: the ledger of remarks, ratings, metrics, estimates."""
