"""Checks of arguments: every TypeError and ValueError that several families share."""
