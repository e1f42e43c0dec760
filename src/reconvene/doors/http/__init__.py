"""What the doors over HTTP share: who asks, what is refused before anybody looks, how runs are reached, live events."""
