"""Tests of the cockpit, without a browser."""
