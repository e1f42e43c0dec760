"""The address of a source as a person types it: what is no address is said before anything is on record."""

from __future__ import annotations

import pytest

from reconvene import materials
from reconvene.errors import ReconveneError

OFF = {"RECONVENE_SANDBOX": "off"}


def test_a_password_is_given_by_the_name_of_a_variable() -> None:
    found = materials.source(
        "postgresql://reader:$DB_PASSWORD@127.0.0.1/shop", {**OFF, "DB_PASSWORD": "hunter2hunter2"}
    )
    assert found["address"] == "postgresql://reader:$DB_PASSWORD@127.0.0.1/shop"
    with pytest.raises(ReconveneError, match="must not hold a password") as refused:
        materials.source("postgresql://reader:hunter2hunter2@127.0.0.1/shop", OFF)
    assert "$DB_PASSWORD" in refused.value.hint


def test_another_database_is_said_to_be_not_supported() -> None:
    with pytest.raises(ReconveneError, match="mysql:// is not supported") as refused:
        materials.source("mysql://reader:hunter2hunter2@127.0.0.1/shop", OFF)
    assert "postgresql://" in refused.value.hint
    assert "hunter2" not in f"{refused.value.message} {refused.value.hint}"
