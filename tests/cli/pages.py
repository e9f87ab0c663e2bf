"""How tests read text pages: paragraphs that are broken into lines, tables whose columns continue below."""
import re

COLUMNS = 80  # of a page that goes to a pipe


def unwrapped(page):
    """The page with each paragraph on one line. A line was broken if the next word would not have fit."""
    lines = []
    for line in page.split("\n"):
        word = re.match(r" (\S+)", line)
        if lines and word and re.match(r" \S", lines[-1]) and len(lines[-1].split("\n")[-1]) + 1 + len(word[1]) > COLUMNS:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return "\n".join(line.replace("\n", "") for line in lines)


def whole_rows(page, name):
    """The cells behind a name, of the table and of those in which it continues below, as one text."""
    return " ".join(line[len(name) + 1:].strip() for line in page.split("\n") if re.match(f" {re.escape(name)}( |$)", line))


def too_wide(page, columns=COLUMNS):
    """The lines of a page that are wider than this."""
    return [line for line in page.split("\n") if len(line) > columns]
