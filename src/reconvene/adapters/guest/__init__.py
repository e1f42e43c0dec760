"""Work that might never end, done in a process that can be killed: `Helper` implements language.guest.Guest."""

from reconvene.adapters.guest.helper import Helper

__all__ = ["Helper"]
