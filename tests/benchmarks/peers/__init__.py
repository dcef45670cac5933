"""Other extractors, each in an environment of its own, measured on the same files as ours."""
