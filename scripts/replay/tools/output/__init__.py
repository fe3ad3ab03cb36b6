"""How tools print: parsers of their output, strict and pure. A tool's own module says which of them it needs."""
