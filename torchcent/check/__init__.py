"""Argument checks: every TypeError and ValueError that several families share."""
