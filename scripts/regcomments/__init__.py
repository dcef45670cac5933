"""Public comments on federal rules: attachments read whole, as text with a status."""

__version__ = "0.1.0"
