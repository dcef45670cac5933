"""Public comments on federal rules: attachments read whole, as text with a status."""

__version__ = "0.1.0"

_PUBLIC = {"extract_comment": "comment", "extract_attachment": "comment"}
__all__ = ["__version__", "extract_attachment", "extract_comment"]


def __getattr__(name: str):
    """Import the public functions when first asked for: the package itself stays light."""
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(f"regcomments.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
