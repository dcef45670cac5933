"""Makers of invented comment letters: PDF, DOCX, scans, text, and the sample dockets of the demo.

Everything here is a pure function from text and a seed to bytes; the same input gives the same
bytes. Only the fonts that every PDF viewer has are used.
"""
