"""Tests of the packaged workflows; a package so that they share `conftest.Table`."""
