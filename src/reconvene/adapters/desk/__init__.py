"""The desk in files of the home: what a service keeps for people beside the logs. See `desk_ports.py`."""

from reconvene.adapters.desk.home_desk import FILE, HomeDesk

__all__ = ["FILE", "HomeDesk"]
