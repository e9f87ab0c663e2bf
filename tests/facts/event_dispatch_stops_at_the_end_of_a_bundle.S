#: set perfect.l1i=yes perfect.itlb=yes perfect.branch=yes dispatch.bundle=4
#: counter bundle dispatch_stops:bundle
#: counter width dispatch_stops:width
#: counter cycles dispatch_cycles
#: expect counter.bundle == 3
#: expect counter.width == 2
#: expect counter.cycles == 5
#
# Bundles of four, of three, as a branch ends it, of four, of two, and of the exit alone, which issues as the oldest.
    .include "fact.inc"
    begin
    nops 4
    nops 2
    bnez x0, end
    nops 4
end: finish
