#!/usr/bin/env python3
"""Writes the input files of the suite's programs.

The files depend on the packages in the sysroot and on nothing else: random choices come from a
generator of our own with fixed seeds, and arithmetic keeps to integers and the four operations
of IEEE numbers, so that every machine writes the same bytes.

Three inputs are written by guest programs (two by the compiler's preprocessor, one by GAP, which
starts five times faster from a saved workspace).  Those run under qemu, or under the command
given with --runner, in OUTDIR as their working folder.

Exit status: 0 all is written, 1 an error, 4 some of those three are missing.
"""

import argparse
import hashlib
import json
import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import further_inputs                        # noqa: E402  (these three lie beside this file)
import guest                                 # noqa: E402
from material import Random, Sysroot, lines  # noqa: E402


# ---------------------------------------------------------------------------------- gzip, bzip2

def corpus(sysroot, size):
    """Source text, machine code, prose and log records, a quarter each."""
    quarter = size // 4
    source = sysroot.read_all("usr/share/gap/lib/*.g*")
    code = sysroot.read("usr/libexec/gcc/riscv64-linux-gnu/14/cc1", 4 << 20, quarter)
    prose = sysroot.perldiag() + sysroot.read("usr/share/link-grammar/en/4.0.dict")
    prose *= quarter // len(prose) + 1

    random = Random(164)
    log = bytearray()
    while len(log) < quarter:
        log += b"%010d host%02d proc[%d]: level=%d value=%d.%06d\n" % (
            random.below(10**9), random.below(16), random.below(30000), random.below(5),
            random.below(100), random.below(10**6))
    return b"".join(part[:quarter] for part in (source, code, prose, bytes(log)))


# ---------------------------------------------------------------------------------------- lemon

def flow_problem(_, nodes, arcs):
    """A minimum-cost flow in DIMACS form: supplies at one end of a line of nodes, demands at the
    other, a dear path along the line that makes it feasible, and cheap shortcuts forward."""
    random = Random(181)
    ends = max(2, nodes // 20)
    supply = {1 + i: 1 + random.below(1000) for i in range(ends)}
    total = rest = sum(supply.values())
    for i in range(ends):
        demand = rest if i == ends - 1 else min(rest, total // ends)
        supply[nodes - i] = supply.get(nodes - i, 0) - demand
        rest -= demand

    arc = [f"a {i} {i + 1} 0 {10 * total} {5000 + random.below(5000)}" for i in range(1, nodes)]
    while len(arc) < arcs:
        tail = 1 + random.below(nodes)
        length = 1 + random.below(nodes // 4)
        if tail + length <= nodes:
            capacity, cost = 1 + random.below(2000), 1 + random.below(100) + length
            arc.append(f"a {tail} {tail + length} 0 {capacity} {cost}")
    return lines(f"p min {nodes} {len(arc)}", [f"n {v} {s}" for v, s in sorted(supply.items())], arc)


# ----------------------------------------------------------------------------- nextpnr, arachne

LUT, FLIPFLOP = "SB_LUT4", "SB_DFF"
NETLIST_INPUTS = NETLIST_OUTPUTS = 8


def netlist(luts, seed):
    """A random circuit of four-input tables and flip-flops as (cells, outputs); a cell is (type,
    inputs, output, truth table).  Most inputs come from recently made signals, so wires are mostly
    short, as Rent's rule has it."""
    random = Random(seed)
    signals = [f"i{i}" for i in range(NETLIST_INPUTS)]
    cells = []
    for k in range(luts):
        inputs = []
        while len(inputs) < 4:
            reach = 40 if random.below(4) else len(signals)
            back = min(len(signals) - 1, random.below(1 + random.below(reach)))
            signal = signals[len(signals) - 1 - back]
            if signal not in inputs:
                inputs.append(signal)
        cells.append((LUT, inputs, f"n{k}", random.bits() & 0xFFFF))
        if random.below(5) < 2:
            cells.append((FLIPFLOP, [f"n{k}"], f"q{k}", 0))
        signals.append(cells[-1][2])

    # Gather unread signals with exclusive-or, or the tools would optimize them away.
    read = {signal for cell in cells for signal in cell[1]}
    unread = [cell[2] for cell in cells if cell[2] not in read]
    count = 0
    while len(unread) > NETLIST_OUTPUTS:
        cells.append((LUT, unread[:4], f"x{count}", 0x6996))
        unread = unread[4:] + [f"x{count}"]
        count += 1
    return cells, unread


def netlist_blif(_, luts):
    cells, outputs = netlist(luts, 300)
    name = {signal: f"o{i}" for i, signal in enumerate(outputs)}
    text = [".model top",
            ".inputs clk " + " ".join(f"i{i}" for i in range(NETLIST_INPUTS)),
            ".outputs " + " ".join(name.values())]
    for kind, inputs, output, table in cells:
        inputs = [name.get(signal, signal) for signal in inputs]
        output = name.get(output, output)
        if kind == LUT:
            pins = " ".join(f"I{i}={signal}" for i, signal in enumerate(inputs))
            text += [f".gate {LUT} {pins} O={output}", f".param LUT_INIT {table:016b}"]
        else:
            text.append(f".gate {FLIPFLOP} C=clk D={inputs[0]} Q={output}")
    return lines(text, ".end")


def netlist_json(_, luts):
    """The form in which the synthesis tool yosys hands a circuit on."""
    cells, outputs = netlist(luts, 175)
    number = {}

    def wire(signal):
        return [number.setdefault(signal, len(number) + 2)]  # 0 and 1 are constants

    inputs = [f"i{i}" for i in range(NETLIST_INPUTS)]
    ports = {"clk": {"direction": "input", "bits": wire("clk")}}
    ports.update({name: {"direction": "input", "bits": wire(name)} for name in inputs})
    ports.update({f"o{i}": {"direction": "output", "bits": wire(signal)}
                  for i, signal in enumerate(outputs)})

    placed = {}
    for k, (kind, sources, output, table) in enumerate(cells):
        if kind == LUT:
            pins = {f"I{i}": wire(sources[i]) if i < len(sources) else ["0"] for i in range(4)}
            pins["O"] = wire(output)
            parameters = {"LUT_INIT": f"{table:016b}"}
        else:
            pins = {"C": wire("clk"), "D": wire(sources[0]), "Q": wire(output)}
            parameters = {}
        placed[f"c{k}"] = {
            "hide_name": 0, "type": kind, "parameters": parameters, "attributes": {},
            "port_directions": {pin: "output" if pin in "OQ" else "input" for pin in pins},
            "connections": pins}

    nets = {signal: {"hide_name": 0, "bits": [i], "attributes": {}} for signal, i in number.items()}
    top = {"attributes": {"top": "1"}, "ports": ports, "cells": placed, "netnames": nets}
    return json.dumps({"creator": "suite", "modules": {"top": top}}, indent=0)


# ---------------------------------------------------------------------------------- link-parser

def sentences(sysroot, count, shortest, longest):
    """Plain sentences of a length in words, cut out of Perl's diagnostics."""
    text = sysroot.perldiag().decode("latin-1")
    text = re.sub(r"(?m)^[=\s].*$", "", text)                       # directives and examples
    text = re.sub(r"[A-Z]<+\s?([^<>]*?)\s?>+", r"\1", text)         # C<code> and the like
    text = re.sub(r"\n(?!\n)", " ", text)
    chosen = {}  # a dictionary keeps the order and drops repetitions
    for found in re.findall(r"(?:^|(?<=[.?!] ))[A-Z][a-z]+ [^.?!\n]*[.?!]", text):
        words = found.split()
        sentence = " ".join(words)
        if shortest <= len(words) <= longest and re.fullmatch(r"[A-Za-z ,.']+", sentence):
            chosen[sentence] = True
            if len(chosen) == count:
                break
    return lines(list(chosen))


# --------------------------------------------------------------------------------------- sqlite

def object_store(_, parts):
    """The life of a table of parts and their connections: load, index, look up, join, update,
    delete, traverse."""
    random = Random(255)
    sql = ["create table part(id integer primary key, kind int, x real, name text);",
           "create table conn(src int, dst int, len int);",
           "create index part_kind on part(kind);",
           "create index conn_src on conn(src);",
           "begin;"]
    for i in range(parts):
        kind, whole, thousandths = random.below(50), random.below(1000), random.below(1000)
        name = "".join("etaoinshrdlu"[random.below(12)] for _ in range(4 + random.below(24)))
        sql.append(f"insert into part values({i},{kind},{whole}.{thousandths:03},'{name}');")
    for i in range(3 * parts):
        source = i // 3
        if random.below(10):  # nine of ten connections stay near
            target = (source + random.below(parts // 50 + 1)) % parts
        else:
            target = random.below(parts)
        sql.append(f"insert into conn values({source},{target},{random.below(1000)});")
    sql.append("commit;")
    for _ in range(parts // 2):
        part, choice = random.below(parts), random.below(4)
        kind = random.below(50)
        sql.append((
            f"select name from part where id={part};",
            "select count(*),sum(p.x) from conn c join part p on p.id=c.dst "
            f"where c.src between {part} and {part + 20};",
            f"update part set x=x+1, kind={kind} where id={part};",
            f"delete from conn where src={part};")[choice])
    return lines(
        sql,
        "select kind,count(*),avg(x),max(name) from part group by kind order by 3;",
        "with recursive t(id,d) as (select 1,0 union select c.dst,t.d+1 from t "
        "join conn c on c.src=t.id where t.d<12) select count(*),sum(d) from t;")


# ------------------------------------------------------------------------------------- hoichess

def chess_position(_, depth):
    """One middle-game position; the time limit is out of reach, so only the depth ends a search."""
    return lines("st 360000", f"sd {depth}",
                 "setboard r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 1",
                 "go", "quit")


# ------------------------------------------------------------------------------------------ gap

GAP_SMALL = r"""g:=MathieuGroup(11);; Print(Size(g),"\n"); QUIT;
"""

# A coset enumeration, conjugacy classes, a Sylow subgroup, long integers.
GAP_BIG = r"""f:=FreeGroup("a","b");; g:=f/[f.1^2,f.2^3,(f.1*f.2)^7,Comm(f.1,f.2)^8];; Print(Size(g),"\n");
g:=MathieuGroup(24);; Print(Size(g)," ",Length(ConjugacyClasses(g)),"\n");
p:=SylowSubgroup(MathieuGroup(22),2);; Print(List(DerivedSeries(p),Size),"\n"); Print(Sum(ListOfDigits(Factorial(500))),"\n"); QUIT;
"""


# ------------------------------------------------------------------------------------ liblinear

def noisy_prototypes(_, rows, features):
    """Four classes; each row is its class's prototype with more noise than signal."""
    random = Random(179)
    prototypes = [[random.below(1000) for _ in range(features)] for _ in range(4)]
    text = []
    for _ in range(rows):
        label = random.below(4)
        values = [(mean * 4 + random.below(1000) * 6) // 10 for mean in prototypes[label]]
        text.append(f"{label} " + " ".join(f"{j}:0.{v:03}" for j, v in enumerate(values, 1)))
    return lines(text)


# ----------------------------------------------------------------------------------------- bart

def bart_array(dimensions, values):
    """bart's pair of files: the sixteen dimensions as text, then complex floats."""
    dimensions = dimensions + [1] * (16 - len(dimensions))
    return {".hdr": "# Dimensions\n" + " ".join(map(str, dimensions)) + "\n",
            ".cfl": struct.pack(f"<{len(values)}f", *values)}


def spheres_in_noise(_, edge):
    random = Random(172)
    spheres = [(random.below(edge), random.below(edge), random.below(edge),
                (2 + random.below(edge // 4))**2, random.unit()) for _ in range(12)]
    values = []
    for z in range(edge):
        for y in range(edge):
            for x in range(edge):
                density = 0.1 * random.unit()
                for a, b, c, radius2, weight in spheres:
                    if (x - a)**2 + (y - b)**2 + (z - c)**2 < radius2:
                        density += weight
                values += [density, 0.0]
    return bart_array([edge, edge, edge], values)


def particles(width, height):
    """Random positions in a disc and a random complex weight for each."""
    random = Random(146)
    positions, weights = [], []
    while len(positions) < 6 * width * height:
        x, y = random.unit() - 0.5, random.unit() - 0.5
        if x * x + y * y < 0.25:
            positions += [x * width, 0.0, y * width, 0.0, 0.0, 0.0]
            weights += [random.unit() - 0.5, random.unit() - 0.5]
    return positions, weights


def particle_positions(_, width, height):
    return bart_array([3, width, height], particles(width, height)[0])


def particle_weights(_, width, height):
    return bart_array([1, width, height], particles(width, height)[1])


# --------------------------------------------------------------------------------------- lapack

def lapack_orders(_, order, *blocks):
    """Parameters of LAPACK's tester of linear equations: one matrix order, several block sizes."""
    return lines("Data file for testing DOUBLE PRECISION LAPACK linear eqn. routines",
                 "1", f"{order}", "1", f"{order}", "1", "15",
                 f"{len(blocks)}", " ".join(map(str, blocks)), " ".join("0" for _ in blocks),
                 "1", "50", "30.0", "T", "F", "F",
                 "DGE   11", "DPO    9", "DSY   10", "DQR    8", "DLS    6")


# --------------------------------------------------------------------------------------- yorick

MESH_RELAXATION = r"""func relax(n, iter) {
  i = span(0., 1., n)(,-:1:n); j = transpose(i);
  x = i + 0.15*j*(1.-j)*(1.-2.*i); y = j + 0.10*i*(1.-i)*(1.-2.*j);
  for (k = 1; k <= iter; k++) {
    xi = 0.5*(x(3:0,2:-1)-x(1:-2,2:-1)); yi = 0.5*(y(3:0,2:-1)-y(1:-2,2:-1));
    xj = 0.5*(x(2:-1,3:0)-x(2:-1,1:-2)); yj = 0.5*(y(2:-1,3:0)-y(2:-1,1:-2));
    a = xj*xj + yj*yj; b = xi*xi + yi*yi; c = 0.125*(xi*xj + yi*yj); d = 0.5/(a + b);
    rx = a*(x(3:0,2:-1)+x(1:-2,2:-1)) + b*(x(2:-1,3:0)+x(2:-1,1:-2)) - c*(x(3:0,3:0)-x(1:-2,3:0)-x(3:0,1:-2)+x(1:-2,1:-2));
    ry = a*(y(3:0,2:-1)+y(1:-2,2:-1)) + b*(y(2:-1,3:0)+y(2:-1,1:-2)) - c*(y(3:0,3:0)-y(1:-2,3:0)-y(3:0,1:-2)+y(1:-2,1:-2));
    rx = rx*d - x(2:-1,2:-1); ry = ry*d - y(2:-1,2:-1);
    x(2:-1,2:-1) += 0.9*rx; y(2:-1,2:-1) += 0.9*ry;
    if (k%10==0) write, format="%4d %.9e %.9e\n", k, max(abs(rx)), max(abs(ry));
  }
}
"""


def mesh_relaxation(_, points, sweeps):
    """A distorted square mesh pulled smooth, with the residuals of every tenth sweep."""
    return MESH_RELAXATION + lines(f"relax, {points}, {sweeps};", "quit;")


def radiation_transport(_, passes):
    """The test of radiation transport that comes with yorick, repeated."""
    return lines('#include "test2.i"', f"test2, {passes}", "quit")


# ----------------------------------------------------------------------------------------- meep

WAVEGUIDE = """(set! geometry-lattice (make lattice (size 16 16 no-size)))
(set! eps-averaging? false)
(set! geometry (list
 (make block (center -2 -3.5) (size 12 1 infinity) (material (make medium (epsilon 12))))
 (make block (center 3.5 2) (size 1 12 infinity) (material (make medium (epsilon 12))))))
(set! sources (list (make source (src (make continuous-src (frequency 0.15))) (component Ez) (center -7 -3.5))))
(set! pml-layers (list (make pml (thickness 1.0))))
(set! resolution %d)
(run-until %d (at-end (lambda () (print "field-energy: " (field-energy-in-box (volume (center 0 0) (size 14 14))) "\\n"))))
"""


def bent_waveguide(_, resolution, duration):
    return WAVEGUIDE % (resolution, duration)


# ------------------------------------------------------------------------------------- raster3d

def molecule(sysroot, example, tiles, pixels):
    """A scene of the package at another size: lines 2 and 3 of a scene give tiles and pixels."""
    text = sysroot.read(f"usr/share/raster3d/examples/{example}.r3d").decode("latin-1").split("\n")
    text[1] = f"{tiles} {tiles} tiles in x,y"
    text[2] = f"{pixels} {pixels} pixels (x,y) per tile"
    return "\n".join(text)


# -------------------------------------------------------------------------------------- tachyon

SPHERES_HEAD = """Begin_Scene
Resolution {0} {0}
Camera
Zoom 1.0
Aspectratio 1.0
Antialiasing 0
Raydepth 5
Center 0.0 1.0 -9.0
Viewdir 0.0 -0.1 1.0
Updir 0.0 1.0 0.0
End_Camera
Light Center 4.0 8.0 -10.0 Rad 0.2 Color 1 1 1
Light Center -6.0 5.0 -6.0 Rad 0.2 Color 0.5 0.5 0.6
Plane Center 0 -3 0 Normal 0 1 0 Texture Ambient 0.1 Diffuse 0.7 Specular 0.2 Opacity 1.0 Color 0.8 0.8 0.7 TexFunc 0
"""


def spheres(_, count, edge):
    """A cloud of mirroring spheres over a plane."""
    random = Random(252)
    text = []
    for _ in range(count):
        center = "%.3f %.3f %.3f" % (random.unit() * 6 - 3, random.unit() * 5 - 2.5,
                                     random.unit() * 6 - 3)
        radius = 0.1 + random.unit() * 0.35
        color = "%.2f %.2f %.2f" % (random.unit(), random.unit(), random.unit())
        text.append(f"Sphere Center {center} Rad {radius:.3f} Texture Ambient 0.1 Diffuse 0.5 "
                    f"Specular 0.4 Opacity 1.0 Color {color} TexFunc 0")
    return SPHERES_HEAD.format(edge) + lines(text, "End_Scene")


# ----------------------------------------------------------------------------------------- gawk

WORD_STATISTICS = """{ n += NF; for (i = 1; i <= NF; i++) { w = tolower($i); gsub(/[^a-z]/, "", w); if (w != "") c[w]++ } }
END { for (w in c) if (c[w] > 3) { m[length(w)]++; t += c[w] * length(w) } print n, length(c), t; for (l = 1; l < 30; l++) if (l in m) printf "%d:%d ", l, m[l]; print "" }
"""


def prose(sysroot):
    return sysroot.perldiag()[:60000]


def source_text(sysroot):
    return sysroot.read_all("usr/share/gap/lib/*.gi")[:3 << 20]


# ------------------------------------------------------------------------------------------ cc1

def header_only_library(_, header):
    """A C file that consists of a library that is all header, implementation included."""
    return lines(f"#define {header.upper()}_IMPLEMENTATION", f"#include <stb/{header}.h>")


# ------------------------------------------------------------------------------------ the tables

def text(content):
    return lambda _: content


# A file, what makes it and with which arguments.  A maker gets the sysroot first and returns the
# content, or a dictionary from suffixes to contents.
INPUTS = (
    ("corpus.small",       corpus,              3 << 17),
    ("corpus.big",         corpus,              6 << 20),
    ("lemon.small",        flow_problem,        1500, 12000),
    ("lemon.big",          flow_problem,        10000, 200000),
    ("nextpnr.small.json", netlist_json,        4),
    ("nextpnr.big.json",   netlist_json,        80),
    ("arachne.small.blif", netlist_blif,        8),
    ("arachne.big.blif",   netlist_blif,        150),
    ("cc1.small.c",        header_only_library, "stb_perlin"),
    ("cc1.big.c",          header_only_library, "stb_image_write"),
    ("linkparser.small",   sentences,           2, 5, 8),
    ("linkparser.big",     sentences,           120, 6, 22),
    ("sqlite.small.sql",   object_store,        600),
    ("sqlite.big.sql",     object_store,        12000),
    ("hoichess.small",     chess_position,      4),
    ("hoichess.big",       chess_position,      7),
    ("gap.small.g",        text(GAP_SMALL)),
    ("gap.big.g",          text(GAP_BIG)),
    ("gap.save.g",         text('SaveWorkspace("gap.workspace"); QUIT;\n')),
    ("liblinear.small",    noisy_prototypes,    240, 128),
    ("liblinear.big",      noisy_prototypes,    3000, 256),
    ("volume.small",       spheres_in_noise,    11),
    ("volume.big",         spheres_in_noise,    36),
    ("positions.small",    particle_positions,  48, 40),
    ("positions.big",      particle_positions,  128, 160),
    ("weights.small",      particle_weights,    48, 40),
    ("weights.big",        particle_weights,    128, 160),
    ("lapack.small",       lapack_orders,       24, 1, 8),
    ("lapack.big",         lapack_orders,       84, 1, 20),
    ("mesh.small.i",       mesh_relaxation,     65, 40),
    ("mesh.big.i",         mesh_relaxation,     257, 60),
    ("radiation.small.i",  radiation_transport, 5),
    ("radiation.big.i",    radiation_transport, 150),
    ("meep.small.ctl",     bent_waveguide,      10, 1),
    ("meep.big.ctl",       bent_waveguide,      20, 9),
    ("raster3d.small.r3d", molecule,            "example6", 12, 8),
    ("raster3d.big.r3d",   molecule,            "example3", 80, 12),
    ("tachyon.small.dat",  spheres,             60, 200),
    ("tachyon.big.dat",    spheres,             400, 640),
    ("words.awk",          text(WORD_STATISTICS)),
    ("words.small",        prose),
    ("words.big",          source_text),
) + further_inputs.INPUTS

PREPROCESS = ("/usr/libexec/gcc/riscv64-linux-gnu/14/cc1 -E -quiet -P -nostdinc "
              "-isystem /usr/lib/gcc/riscv64-linux-gnu/14/include "
              "-isystem /usr/include/riscv64-linux-gnu -isystem /usr/include "
              "-march=rv64gc -mabi=lp64d")

# A file that a guest program writes, its command line, its standard input.
GUEST_MADE = (
    ("cc1.small.i", f"{PREPROCESS} cc1.small.c -o cc1.small.i", None),
    ("cc1.big.i", f"{PREPROCESS} cc1.big.c -o cc1.big.i", None),
    ("gap.workspace", "/usr/lib/riscv64-linux-gnu/gap/gap -l /usr/share/gap -q -A -r", "gap.save.g"),
)

CHECKSUMS = "SHA256SUMS"
INCOMPLETE = 4  # exit status when a guest program did not write its file


def write_inputs(sysroot, outdir):
    for name, maker, *arguments in INPUTS:
        made = maker(sysroot, *arguments)
        for suffix, content in (made if isinstance(made, dict) else {"": made}).items():
            content = content.encode() if isinstance(content, str) else content
            (outdir / (name + suffix)).write_bytes(content)


def write_guest_made(outdir, runner):
    """Returns the names of those that could not be made."""
    missing = []
    for name, command, stdin in GUEST_MADE:
        with open(outdir / (stdin or "/dev/null"), "rb") as source:
            done = subprocess.run(runner.command(outdir, shlex.split(command)), cwd=outdir,
                                  stdin=source, stdout=subprocess.DEVNULL, env=guest.ENVIRONMENT,
                                  check=False)
        if done.returncode != 0 or not (outdir / name).is_file():
            missing.append(name)
    return missing


def write_checksums(outdir):
    """In the format of sha256sum, so that `sha256sum -c` can check the folder."""
    files = sorted(path for path in outdir.iterdir() if path.name != CHECKSUMS)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    (outdir / CHECKSUMS).write_text(lines(sums))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sysroot", type=Path)
    parser.add_argument("outdir", type=Path,
                        help="for qemu in a chroot: a folder in the sysroot")
    parser.add_argument("--runner", metavar="COMMAND",
                        help="what runs a guest program, {root} being the sysroot (default: qemu)")
    options = parser.parse_args()
    outdir = options.outdir.resolve()
    outdir.mkdir(parents=True, exist_ok=True)
    sysroot = options.sysroot.resolve()
    write_inputs(Sysroot(sysroot), outdir)
    try:
        runner = guest.Emulator(sysroot, options.runner) if options.runner else guest.Qemu(sysroot)
        missing, reason = write_guest_made(outdir, runner), "the guest programs failed"
    except guest.Unavailable as problem:
        missing, reason = [name for name, *_ in GUEST_MADE], problem
    write_checksums(outdir)
    if missing:
        print(f"inputs: without {', '.join(missing)}: {reason}", file=sys.stderr)
        sys.exit(INCOMPLETE)


if __name__ == "__main__":
    main()
