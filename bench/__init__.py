"""The same workloads on this engine, on the raw floor and on a peer, side by side in one run. See README.md here."""
