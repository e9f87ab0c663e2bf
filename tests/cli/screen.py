#!/usr/bin/env python3
"""A terminal for tests: a screen that understands as much of ANSI as Cyclescope uses, and fails on anything else.

usage: screen.py ROWS COLUMNS [--resize ROWS COLUMNS SECONDS] [--signal NAME SECONDS] FOLDER COMMAND...

Runs the command with standard output and error on it and leaves in FOLDER: screen (what is on it at the end, and what
has scrolled off above), frames (the pictures that were drawn, as the whole screen when each was complete), raw (all
bytes) and state (the scrolling region and the attributes at the end: `1 ROWS plain`). Exits with the command's status.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

TOKEN = re.compile(r"\033\[[0-9;]*[A-Za-z]|\033[78D]|[\r\n]|[^\033\r\n]|\033", re.S)


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


def main(words):
    rows, columns = int(words.pop(0)), int(words.pop(0))
    resize = kill = None
    while words[0].startswith("--"):
        if words.pop(0) == "--resize":
            resize = (int(words.pop(0)), int(words.pop(0)), time.time() + float(words.pop(0)))
        else:
            kill = (getattr(signal, words.pop(0)), time.time() + float(words.pop(0)))
    folder = pathlib.Path(words.pop(0))
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    run = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=its, stderr=its, env={**os.environ, "TERM": "xterm"})
    os.close(its)
    screen, frames, raw, rest = Screen(rows, columns), [], b"", b""
    while True:
        if resize and time.time() > resize[2]:
            fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", *resize[:2], 0, 0))
            screen.resize(*resize[:2])
            resize = None
        if kill and time.time() > kill[1]:
            run.send_signal(kill[0])
            kill = None
        if not select.select([ours], [], [], 0.05)[0]:
            continue
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        raw += part
        text = (rest + part).decode("utf-8", "ignore")
        cut = text.rfind("\033") if "\033" in text[-24:] else len(text)  # a sequence may go on in the next part
        text, rest = text[:cut], text[cut:].encode()
        for token in TOKEN.findall(text):
            screen.put(token)
            if token == "\0338" and "instructions" in screen.text():
                frames.append(screen.text())
    for token in TOKEN.findall(rest.decode()):
        screen.put(token)
    (folder / "screen").write_text(screen.text(True))
    (folder / "frames").write_text("\f".join(frames))
    (folder / "raw").write_bytes(raw)
    state = f"{screen.top + 1} {screen.bottom + 1} {'plain' if screen.plain else 'coloured'}"
    (folder / "state").write_text(state + "".join(f" {word!r}" for word in screen.strange) + "\n")
    status = run.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
