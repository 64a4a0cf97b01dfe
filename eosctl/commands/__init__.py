"""Thin command modules: parse, call, render."""
