"""Reconvene."""
