"""A terminal for tests: a screen that understands as much of ANSI as Cyclescope uses; all else is strange."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import ENVIRONMENT, PATIENCE_SECONDS

TOKEN = re.compile(r"\033\[[0-9;]*[A-Za-z]|\033[78D]|[\r\n]|[^\033\r\n]|\033", re.S)
SEQUENCE_BEGUN = re.compile(r"\033(\[[0-9;]*)?$")


class Screen:
    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [[" "] * columns for _ in range(rows)]
        self.gone = []  # scrolled off
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.saved = (0, 0)
        self.plain = True
        self.strange = []

    def resize(self, rows, columns):
        """As xterm does: lines are cut or get longer, and the last ones stay."""
        while len(self.lines) > rows:
            self.gone.append(self.lines.pop(0))
            self.row = max(0, self.row - 1)
        self.lines += [[] for _ in range(rows - len(self.lines))]
        self.lines = [(line + [" "] * columns)[:columns] for line in self.lines]
        self.rows, self.columns, self.column = rows, columns, min(self.column, columns - 1)
        self.top, self.bottom = 0, rows - 1

    def down(self):
        if self.row == self.bottom:
            line = self.lines.pop(self.top)
            self.gone += [line] if self.top == 0 else []
            self.lines.insert(self.bottom, [" "] * self.columns)
        elif self.row + 1 < self.rows:
            self.row += 1

    def put(self, token):
        if token == "\r":
            self.column = 0
        elif token == "\n" or token == "\033D":
            self.down()
        elif token == "\0337":
            self.saved = (self.row, self.column)
        elif token == "\0338":
            self.row, self.column = min(self.saved[0], self.rows - 1), min(self.saved[1], self.columns - 1)
        elif token.startswith("\033["):
            self.control(token[-1], [int(n or 0) for n in token[2:-1].split(";")])
        elif token.startswith("\033"):
            self.strange.append(token)
        else:
            if self.column == self.columns:
                self.column = 0
                self.down()
            self.lines[self.row][self.column] = token
            self.column += 1

    def control(self, final, numbers):
        if final == "H":
            row, column = (numbers + [1, 1])[:2]
            self.row, self.column = min(max(1, row), self.rows) - 1, min(max(1, column), self.columns) - 1
        elif final == "A":
            self.row = max(0, self.row - max(1, numbers[0]))
        elif final == "K":
            self.lines[self.row][self.column:] = [" "] * (self.columns - self.column)
        elif final == "J":
            self.control("K", [0])
            for row in range(self.row + 1, self.rows):
                self.lines[row] = [" "] * self.columns
        elif final == "r":
            self.top, self.bottom = (numbers[0] - 1, numbers[1] - 1) if numbers[1:] else (0, self.rows - 1)
            self.row = self.column = 0
        elif final == "m":
            self.plain = numbers == [0]
        else:
            self.strange.append(final)

    def text(self, with_gone=False):
        lines = (self.gone if with_gone else []) + self.lines
        return "\n".join("".join(line).rstrip() for line in lines).rstrip("\n") + "\n"

    def is_reset(self):
        """The whole screen scrolls, nothing is colored, and nothing came that it does not understand."""
        return (self.top, self.bottom) == (0, self.rows - 1) and self.plain and self.strange == []


class Terminal:
    """A command whose standard output and error are a terminal, and whose standard input is a pipe.

    `frames` are the pictures that were drawn: the whole screen when each was complete. `raw` is all bytes.
    """

    def __init__(self, cli, rows, columns, words, term="xterm", env={}):
        self.screen, self.frames, self.raw, self.status = Screen(rows, columns), [], b"", None
        self.decoder, self.rest = codecs.getincrementaldecoder("utf-8")(), ""
        self.ours, its = pty.openpty()
        self.set_size(rows, columns)
        self.process = cli.spawn(words, stdin=subprocess.PIPE, stdout=its, stderr=its, env={**ENVIRONMENT, "TERM": term, **env})
        os.close(its)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process.stdin.close()
        os.close(self.ours)

    def set_size(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.set_size(rows, columns)
        self.screen.resize(rows, columns)

    def send(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def read(self):
        """Takes what has come, if it comes soon; whether there can be more."""
        if not select.select([self.ours], [], [], 0.05)[0]:
            return True
        try:
            part = os.read(self.ours, 65536)
        except OSError:  # the other side has been closed by all
            return False
        self.raw += part
        text = self.rest + self.decoder.decode(part)
        begun = SEQUENCE_BEGUN.search(text)
        cut = begun.start() if begun else len(text)
        self.rest = text[cut:]
        for token in TOKEN.findall(text[:cut]):
            self.screen.put(token)
            if token == "\0338" and "instructions," in self.screen.text():
                self.frames.append(self.screen.text())
        return True

    def wait_until(self, condition):
        """Reads on until the condition holds; a command that ends before has failed."""
        patience = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if not self.read():
                pytest.fail(f"it ended too early: {self.screen.text(True)[:600]}")
            if time.monotonic() > patience:
                pytest.fail(f"it never came; the screen: {self.screen.text()}")

    def end(self):
        """Closes the standard input and reads to the end of the command: its status, as a shell has it."""
        self.process.stdin.close()
        patience = time.monotonic() + PATIENCE_SECONDS
        while self.read():
            if time.monotonic() > patience:
                pytest.fail(f"it hangs; the screen: {self.screen.text()}")
        for token in TOKEN.findall(self.rest):
            self.screen.put(token)
        status = self.process.wait(PATIENCE_SECONDS)
        return status if status >= 0 else 128 - status
