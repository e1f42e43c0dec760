"""What of the machine a program in a box needs, and what it is not shown. Only looks."""

from __future__ import annotations

import os
import sys
import sysconfig

_OF_THE_SYSTEM = frozenset(("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "dev", "proc", "nix", "gnu"))
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "alternatives")
_OF_NETWORKS = ("resolv.conf", "hosts", "nsswitch.conf", "services", "ssl", "pki", "ca-certificates", "passwd")


def hidden() -> tuple[str, ...]:
    """Whatever lies at the top of the machine and does not belong to the system."""
    try:
        names = os.listdir("/")
    except OSError:
        return ()
    tops = [os.path.join("/", name) for name in names if name not in _OF_THE_SYSTEM]
    return tuple(top for top in tops if not os.path.islink(top))


def needed(*, network: bool) -> tuple[str, ...]:
    """Python with its libraries, this package, and a few settings of the system."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = sysconfig.get_paths()
    wanted = [sys.prefix, sys.base_prefix, paths["purelib"], paths["platlib"], os.path.dirname(package)]
    wanted += [f"/etc/{name}" for name in (*_SETTINGS, *(_OF_NETWORKS if network else ()))]
    wanted = [os.path.abspath(path) for path in wanted]  # Python may have been started by a way through another folder
    return tuple(path for path in wanted if os.path.exists(path) and os.path.realpath(path) != "/")
