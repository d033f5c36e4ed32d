"""How the bundled models are made and measured; nothing at run time imports this."""
