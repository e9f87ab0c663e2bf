"""Inputs of the further programs, those that are kept for validation (see programs.toml).  inputs.py writes them.

The rules of inputs.py hold: fixed seeds, integers and the four operations of IEEE numbers, the same bytes on every machine.
"""

import json
import struct

from material import Random, lines

# ----------------------------------------------------------------------------- zstd, xz, brotli

SYLLABLES = "ka lo mi ter an der sen ri to ve ly con pre sta ing er ed ous ment al".split()


def vocabulary(random, count):
    """Invented words of one to four syllables."""
    return ["".join(SYLLABLES[random.below(len(SYLLABLES))] for _ in range(1 + random.below(4))) for _ in range(count)]


def prose(random, words, size):
    """Sentences whose frequent words are those at the start of the list."""
    text, length = [], 0
    while length < size:
        sentence = [words[random.below(1 + random.below(1 + random.below(len(words))))] for _ in range(4 + random.below(14))]
        text.append(" ".join(sentence).capitalize() + ".\n")
        length += len(text[-1])
    return "".join(text).encode()[:size]


def readings(random, size):
    """Binary records of a time, a channel and a value that moves in small steps."""
    content, time, value = bytearray(), 0, [1 << 20] * 8
    while len(content) < size:
        time += 1 + random.below(50)
        channel = random.below(8)
        value[channel] += random.below(201) - 100
        content += struct.pack("<IHHI", time, channel, random.below(3), value[channel])
    return bytes(content[:size])


def archive(_, size):
    """Prose, binary readings, markup and random bytes: three eighths, three eighths, an eighth, an eighth."""
    random = Random(401)
    words = vocabulary(random, 4000)
    eighth = size // 8
    markup = []
    for _ in range(eighth // 40):
        word, number = words[random.below(300)], random.below(10000)
        markup.append(f'<entry id="{number}" kind="{word}"><value>{number * 37 % 1000}</value></entry>\n')
    noise = bytes(random.below(256) for _ in range(eighth))
    return (prose(random, words, 3 * eighth) + readings(random, 3 * eighth) + "".join(markup).encode()[:eighth] + noise)


# --------------------------------------------------------------------------------------- cadical

class Circuit:
    """Gates as clauses: a literal per wire, Tseitin's translation."""

    def __init__(self):
        self.wires, self.clauses = 0, []

    def wire(self):
        self.wires += 1
        return self.wires

    def both(self, a, b):
        out = self.wire()
        self.clauses += [(-a, -b, out), (a, -out), (b, -out)]
        return out

    def differ(self, a, b):
        out = self.wire()
        self.clauses += [(-a, -b, -out), (a, b, -out), (-a, b, out), (a, -b, out)]
        return out

    def either(self, a, b):
        return -self.both(-a, -b)

    def add(self, a, b, carry):
        """(sum, carry) of a full adder."""
        half = self.differ(a, b)
        return self.differ(half, carry), self.either(self.both(a, b), self.both(half, carry))


def factoring(_, bits, product):
    """An array multiplier of two numbers of `bits` bits, with the product given: its factors are the solution."""
    circuit = Circuit()
    left, right = ([circuit.wire() for _ in range(bits)] for _ in range(2))
    false = circuit.wire()
    circuit.clauses.append((-false,))
    total = [false] * (2 * bits)
    for i, a in enumerate(left):
        carry = false
        for j, b in enumerate(right):
            total[i + j], carry = circuit.add(total[i + j], circuit.both(a, b), carry)
        total[i + bits] = carry
    circuit.clauses += [(wire if product >> i & 1 else -wire,) for i, wire in enumerate(total)]
    return lines(f"p cnf {circuit.wires} {len(circuit.clauses)}",
                 [" ".join(map(str, clause)) + " 0" for clause in circuit.clauses])


# ---------------------------------------------------------------------------------------- glpsol

def assignment(_, agents, tasks):
    """Generalized assignment in CPLEX's LP format: every task to one agent, agents have capacities, least cost."""
    random = Random(403)
    cost = [[10 + random.below(41) for _ in range(tasks)] for _ in range(agents)]
    load = [[5 + random.below(21) for _ in range(tasks)] for _ in range(agents)]
    pairs = [(a, t) for a in range(agents) for t in range(tasks)]

    def total(weights, chosen):
        return " + ".join(f"{weights[a][t]} x{a}_{t}" for a, t in chosen)

    capacity = [8 * sum(row) // (10 * agents) for row in load]
    return lines("Minimize", " cost:", [" + " + total(cost, [pair]) for pair in pairs], "Subject To",
                 [f" t{t}: " + " + ".join(f"x{a}_{t}" for a in range(agents)) + " = 1" for t in range(tasks)],
                 [f" a{a}: " + total(load, [(a, t) for t in range(tasks)]) + f" <= {capacity[a]}" for a in range(agents)],
                 "Binary", [f" x{a}_{t}" for a, t in pairs], "End")


# -------------------------------------------------------------------------------------------- z3

def job_shop(_, jobs, machines, deadline):
    """Start times of jobs that pass all machines, each in an order of its own, before a deadline: linear integer
    arithmetic with disjunctions."""
    random = Random(404)
    text, uses = ["(set-logic QF_LIA)"], [[] for _ in range(machines)]
    for j in range(jobs):
        order = list(range(machines))
        for i in range(machines - 1, 0, -1):
            k = random.below(i + 1)
            order[i], order[k] = order[k], order[i]
        ready = "0"
        for step, machine in enumerate(order):
            name, length = f"s{j}_{step}", 2 + random.below(18)
            text += [f"(declare-const {name} Int)", f"(assert (>= {name} {ready}))"]
            ready = f"(+ {name} {length})"
            uses[machine].append((name, length))
        text.append(f"(assert (<= {ready} {deadline}))")
    for users in uses:
        for i, (one, first) in enumerate(users):
            text += [f"(assert (or (<= (+ {one} {first}) {two}) (<= (+ {two} {second}) {one})))" for two, second in users[:i]]
    return lines(text, "(check-sat)", "(get-model)")


# ----------------------------------------------------------------------------------------- gnugo

def go_game(_, edge, moves):
    """Commands of the Go text protocol: the engine plays both sides."""
    return lines(f"boardsize {edge}", "clear_board", "komi 6.5",
                 [f"genmove {'white' if i % 2 else 'black'}" for i in range(moves)], "showboard", "estimate_score", "quit")


# ---------------------------------------------------------------------------- fasttree, clustalw

def evolved(random, alphabet, count, length, gaps):
    """Sequences that descend from one by substitutions and, if `gaps`, deletions and insertions."""
    family = [[alphabet[random.below(len(alphabet))] for _ in range(length)]]
    while len(family) < count:
        child = list(family[random.below(len(family))])
        for _ in range(length // 12):
            child[random.below(len(child))] = alphabet[random.below(len(alphabet))]
        if gaps and len(child) > 8:
            start = random.below(len(child) - 4)
            del child[start:start + random.below(4)]
            child[start:start] = [alphabet[random.below(len(alphabet))] for _ in range(random.below(4))]
        family.append(child)
    return lines([line for i, one in enumerate(family) for line in (f">s{i}", "".join(one))])


def nucleotides(_, count, length):
    """An alignment without gaps."""
    return evolved(Random(406), "ACGT", count, length, gaps=False)


def proteins(_, count, length):
    return evolved(Random(407), "ACDEFGHIKLMNPQRSTVWY", count, length, gaps=True)


# ------------------------------------------------------------------------------------------- jq

def orders(_, count):
    """A JSON array of orders with customers and items."""
    random = Random(408)
    words = vocabulary(random, 500)

    def item():
        return {"name": words[random.below(500)], "price": random.below(10000) / 100, "count": 1 + random.below(9)}

    made = [{"id": i, "customer": f"{words[random.below(60)]} {words[random.below(60)]}", "day": random.below(365),
             "paid": random.below(3) > 0, "tags": [words[random.below(40)] for _ in range(random.below(4))],
             "items": [item() for _ in range(1 + random.below(6))]} for i in range(count)]
    return json.dumps(made, indent=1)


ORDER_STATISTICS = r"""map(.total = ([.items[] | .price * .count] | add) | .initials = (.customer | split(" ") | map(.[0:1]) | join("")))
| {paid: (map(select(.paid)) | length),
   months: (group_by(.day / 30 | floor) | map({month: (.[0].day / 30 | floor), sum: (map(.total) | add | floor)})),
   best: (group_by(.customer) | map({customer: .[0].customer, sum: (map(.total) | add | floor)}) | sort_by(-.sum) | .[0:10]),
   tags: (map(.tags[]) | group_by(.) | map({key: .[0], value: length}) | from_entries),
   long: (map(.items[].name | select(test("^(ka|lo).*(er|ing)$"))) | unique),
   words: (map(.items[].name | ascii_upcase | gsub("[AEIOU]"; "")) | unique | length)}
"""


# ------------------------------------------------------------------------------------------- gp

NUMBER_THEORY = r"""{work(bits, curves, degree) =
  default(realprecision, 50 * degree);
  my(p = nextprime(2^bits), q = nextprime(p + 2^(bits \ 2)));
  print(factor(p * q));
  for (a = 1, curves, my(e = ellinit([0, 0, 0, -a, a + 1])); print1(ellap(e, nextprime(2^40 + 2^a)), " "));
  print(); print(polgalois(x^5 - x - 1)); print(bnfinit(x^2 - nextprime(10^degree), 1).cyc);
  print(matdet(matrix(degree * 4, degree * 4, i, j, 1 / (i + j - 1))) == 0);
  print(#Str(floor(Pi * 10^(40 * degree))), " ", sumdigits(100!^degree), " ", qflll(matrix(degree, degree, i, j, (i * 7 + j * j) % 101)));
}
"""


def number_theory(_, *arguments):
    """Factoring, points of elliptic curves, a class group, exact linear algebra, lattice reduction."""
    return NUMBER_THEORY + f"work({', '.join(map(str, arguments))});\nquit\n"


# ------------------------------------------------------------------------------------------- dot

def module_graph(_, nodes):
    """A directed graph without cycles in Graphviz's language: each node uses one to three earlier ones, mostly recent."""
    random = Random(411)
    words = vocabulary(random, nodes)
    edges = {(i, max(0, i - 1 - random.below(1 + random.below(i)))) for i in range(1, nodes) for _ in range(1 + random.below(3))}
    return lines("digraph modules {", [f'  n{i} [label="{word}{i}", shape=box];' for i, word in enumerate(words)],
                 [f"  n{a} -> n{b};" for a, b in sorted(edges)], "}")


# ------------------------------------------------------------------------------------ flac, lame

def tones(_, samples):
    """A mono WAVE file: decaying tones with a little noise.  A tone is a recurrence, s = c*s1 - s2."""
    random = Random(409)
    mix = [0.0] * samples
    for start in range(0, samples, 6000):
        for _ in range(3):
            turn, s1, s2 = 2 - random.unit() * random.unit() * 0.3, 0.0, 400 + 2600 * random.unit()
            for i in range(start, min(start + 12000, samples)):
                s1, s2 = (turn * s1 - s2) * 0.9999, s1
                mix[i] += s1
    content = struct.pack(f"<{samples}h", *(max(-32768, min(32767, int(one) + random.below(65) - 32)) for one in mix))
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(content), b"WAVE", b"fmt ", 16, 1, 1, 44100, 88200, 2, 16,
                       b"data", len(content)) + content


# ----------------------------------------------------------------------------------------- cjpeg

def picture(_, width, height):
    """A PPM file: shaded discs over smooth color gradients, with noise."""
    random = Random(410)
    discs = [(random.below(width), random.below(height), 10 + random.below(width // 6), [random.below(200) for _ in range(3)])
             for _ in range(30)]
    content = bytearray()
    for y in range(height):
        row = bytearray()
        for x in range(width):
            row += bytes((x * 200 // width, y * 200 // height, (x + y) * 100 // (width + height)))
        for cx, cy, radius, color in discs:
            for x in range(max(0, cx - radius), min(width, cx + radius)):
                distance = (x - cx) * (x - cx) + (y - cy) * (y - cy)
                if distance < radius * radius:
                    shade = 256 - 200 * distance // (radius * radius)
                    row[3 * x:3 * x + 3] = bytes(c * shade >> 8 for c in color)
        noise = random.bits()
        content += bytes(c + (noise >> (i * 7 & 31) & 15) for i, c in enumerate(row))
    return b"P6\n%d %d\n255\n" % (width, height) + content


# -------------------------------------------------------------------------- lua, qjs, tcl, mruby

LUA = r"""local rounds = tonumber(arg[1])
local seed = 12345
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed // 65536 % n end

local Tree = {}; Tree.__index = Tree
function Tree.insert(t, key)
  if not t then return setmetatable({key = key, count = 1}, Tree) end
  if key == t.key then t.count = t.count + 1
  elseif key < t.key then t.left = Tree.insert(t.left, key)
  else t.right = Tree.insert(t.right, key) end
  return t
end
function Tree:walk(visit) if self.left then self.left:walk(visit) end; visit(self); if self.right then self.right:walk(visit) end end

local function queens(n)
  local found, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then found = found + 1; return end
    for c = 1, n do
      if not (columns[c] or up[row + c] or down[row - c]) then
        columns[c], up[row + c], down[row - c] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c] = nil, nil, nil
      end
    end
  end
  place(1)
  return found
end

local function words(count)
  return coroutine.wrap(function()
    for _ = 1, count do coroutine.yield(string.char(97 + random(26), 97 + random(5), 97 + random(26))) end
  end)
end

for round = 1, rounds do
  local tree, text = nil, {}
  for word in words(3000) do tree = Tree.insert(tree, word); text[#text + 1] = word end
  local kinds, sum = 0, 0
  tree:walk(function(node) kinds = kinds + 1; sum = sum + node.count * #node.key end)
  local joined = table.concat(text, " ")
  local changed, times = joined:gsub("(%a)a(%a)", "%2-%1")
  table.sort(text, function(a, b) return a > b end)
  local x = 0.5
  for _ = 1, 20000 do x = 3.9 * x * (1 - x) end
  print(round, kinds, sum, times, #changed, text[1], queens(7), string.format("%.10f", x))
end
"""

JAVASCRIPT = r"""const rounds = Number(scriptArgs[1]);
let seed = 12345;
const random = n => { seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff; return (seed >>> 16) % n; };

class Shape { area() { return 0; } }
class Box extends Shape { constructor(a, b) { super(); this.a = a; this.b = b; } area() { return this.a * this.b; } }
class Disc extends Shape { constructor(r) { super(); this.r = r; } area() { return 3 * this.r * this.r; } }

function* primes(limit) {
  const sieve = new Uint8Array(limit);
  for (let i = 2; i < limit; i++) {
    if (sieve[i]) continue;
    yield i;
    for (let j = i * i; j < limit; j += i) sieve[j] = 1;
  }
}

for (let round = 0; round < rounds; round++) {
  const shapes = Array.from({length: 2000}, () => random(2) ? new Box(random(9), random(9)) : new Disc(random(9)));
  const area = shapes.map(s => s.area()).filter(a => a % 2).reduce((a, b) => a + b, 0);
  const table = new Map();
  for (let i = 0; i < 3000; i++) {
    const key = `k${random(700)}`;
    table.set(key, (table.get(key) ?? 0) + i);
  }
  const text = JSON.stringify([...table].map(([key, value]) => ({key, value, list: [value % 7, value % 11]})));
  const back = JSON.parse(text).sort((a, b) => b.value - a.value || (a.key < b.key ? -1 : 1));
  const digits = text.replace(/"k(\d)(\d*)"/g, (_, a, b) => b + a).match(/\d+/g).length;
  let sum = 0;
  for (const p of primes(5000)) sum += p;
  let big = 1n;
  for (let i = 1n; i <= 120n; i++) big *= i;
  print(round, area, table.size, back[0].key, digits, sum, String(big % 1000000007n));
}
"""

TCL = r"""proc random {n} { global seed; set seed [expr {($seed * 1103515245 + 12345) & 0x7fffffff}]; expr {($seed >> 16) % $n} }
proc fib {n} { if {$n < 2} { return $n }; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
proc shuffle {list} {
    for {set i [expr {[llength $list] - 1}]} {$i > 0} {incr i -1} {
        set j [random [expr {$i + 1}]]
        set other [lindex $list $j]
        lset list $j [lindex $list $i]
        lset list $i $other
    }
    return $list
}
proc multiply {a b} {
    set rows {}
    foreach row $a {
        set line {}
        for {set j 0} {$j < [llength [lindex $b 0]]} {incr j} {
            set sum 0
            for {set k 0} {$k < [llength $row]} {incr k} { incr sum [expr {[lindex $row $k] * [lindex $b $k $j]}] }
            lappend line [expr {$sum % 1009}]
        }
        lappend rows $line
    }
    return $rows
}
set seed 12345
for {set round 0} {$round < [lindex $argv 0]} {incr round} {
    set words {}
    for {set i 0} {$i < 1500} {incr i} { lappend words [format "w%03d%c" [random 300] [expr {97 + [random 6]}]] }
    set count [dict create]
    foreach word $words { dict incr count $word }
    array unset seen
    foreach word [shuffle $words] { append seen([string index $word end]) [string range $word 1 2] }
    set text [join [lsort -unique $words] ","]
    set hits [regsub -all {w(\d)\d(\d)([a-c])} $text {\3\2\1} changed]
    set m {}
    for {set i 0} {$i < 12} {incr i} { set line {}; for {set j 0} {$j < 12} {incr j} { lappend line [random 100] }; lappend m $line }
    set m [multiply [multiply $m $m] $m]
    puts "$round [dict size $count] [string length $seen(a)] $hits [string length [string map {a bb c d} $changed]] [lindex $m 3 4] [fib 15]"
}
"""

RUBY = r"""rounds = ARGV[0].to_i
$seed = 12345
def random(n)
  $seed = ($seed * 1103515245 + 12345) & 0x7fffffff
  ($seed >> 16) % n
end

class Body
  attr_accessor :x, :v
  def initialize(x, v)
    @x = x
    @v = v
  end

  def step(others)
    force = others.reduce(0.0) { |sum, o| d = o.x - @x; d == 0 ? sum : sum + d / (d.abs * d.abs + 1.0) }
    @v += 0.01 * force
    @x += 0.01 * @v
  end
end

def permutations(list, &block)
  return block.call([]) if list.empty?
  list.each_with_index { |one, i| permutations(list[0...i] + list[i + 1..-1]) { |rest| block.call([one] + rest) } }
end

rounds.times do |round|
  bodies = (0...24).map { |i| Body.new(i * 1.5 + random(100) / 100.0, 0.0) }
  20.times { bodies.each { |b| b.step(bodies) } }
  count = Hash.new(0)
  1500.times { count["k#{random(200)}".to_sym] += 1 }
  best = count.map { |k, v| [-v, k.to_s] }.sort.first
  inversions = 0
  permutations([1, 2, 3, 4, 5, 6]) { |p| inversions += (0...5).select { |i| p[i] > p[i + 1] }.size }
  text = (0...400).map { |i| (i * 7919 % 1009).to_s(16) }.join(" ")
  puts "#{round} #{(bodies.map(&:x).reduce(:+) * 1e6).round} #{best[1]} #{inversions} #{text.split(' ').uniq.size} #{text.index('3f')}"
end
"""


# ------------------------------------------------------------------------------------- the table

def text(content):
    return lambda _: content


INPUTS = (
    ("archive.small",        archive,             96 << 10),
    ("archive.big",          archive,             1 << 20),
    ("factoring.small.cnf",  factoring,           16, 41579 * 63949),
    ("factoring.big.cnf",    factoring,           24, 12582917 * 15485863),
    ("assignment.small.lp",  assignment,          5, 20),
    ("assignment.big.lp",    assignment,          6, 36),
    ("z3.small.smt2",        job_shop,            5, 5, 90),
    ("z3.big.smt2",          job_shop,            10, 8, 170),
    ("gnugo.small",          go_game,             9, 2),
    ("gnugo.big",            go_game,             19, 7),
    ("fasttree.small.fasta", nucleotides,         12, 150),
    ("fasttree.big.fasta",   nucleotides,         40, 300),
    ("clustalw.small.fasta", proteins,            8, 80),
    ("clustalw.big.fasta",   proteins,            30, 150),
    ("orders.jq",            text(ORDER_STATISTICS)),
    ("orders.small.json",    orders,              120),
    ("orders.big.json",      orders,              1000),
    ("numbers.small.gp",     number_theory,       50, 6, 6),
    ("numbers.big.gp",       number_theory,       75, 20, 11),
    ("modules.small.dot",    module_graph,        100),
    ("modules.big.dot",      module_graph,        300),
    ("tones.small.wav",      tones,               60000),
    ("tones.big.wav",        tones,               500000),
    ("picture.small.ppm",    picture,             400, 300),
    ("picture.big.ppm",      picture,             1280, 960),
    ("work.lua",             text(LUA)),
    ("work.js",              text(JAVASCRIPT)),
    ("work.tcl",             text(TCL)),
    ("work.rb",              text(RUBY)),
)
