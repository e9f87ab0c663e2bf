"""Raw material of inputs.py and further_inputs.py: random numbers, files of the packages, lines of text."""

from pathlib import Path

MASK64 = (1 << 64) - 1


class Random:
    """xorshift64*: small, well understood, the same in every Python."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 0x1234567) & MASK64 or 1

    def bits(self):
        x = self.state
        x ^= x >> 12
        x ^= (x << 25) & MASK64
        x ^= x >> 27
        self.state = x
        return (x * 0x2545F4914F6CDD1D) & MASK64

    def below(self, limit):
        """An integer in [0, limit); the low bits of the generator are its weakest."""
        return (self.bits() >> 11) % limit

    def unit(self):
        """A float in [0, 1) with 53 random bits."""
        return (self.bits() >> 11) / (1 << 53)


class Sysroot:
    """Texts and binaries of the packages, used as raw material."""

    def __init__(self, root):
        self.root = Path(root)

    def read(self, path, start=0, length=-1):
        with open(self.root / path, "rb") as file:
            file.seek(start)
            return file.read(length)

    def read_all(self, pattern):
        return b"".join(path.read_bytes() for path in sorted(self.root.glob(pattern)))

    def perldiag(self):
        """Perl's list of diagnostics: 300 kB of plain English."""
        return self.read_all("usr/share/perl/5.*.*/pod/perldiag.pod")


def lines(*parts):
    """Joins strings and lists of strings into a text of lines."""
    flat = []
    for part in parts:
        flat += [part] if isinstance(part, str) else part
    return "\n".join(flat) + "\n"
