"""How one run goes: configuration to release, and what is kept of it."""
