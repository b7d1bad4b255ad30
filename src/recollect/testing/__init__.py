"""Fakes and conformance suites, shipped for those who plug something in. Never imported by the house."""
