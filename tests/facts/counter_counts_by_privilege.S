#: set perfect.l1i=yes perfect.itlb=yes perfect.dtlb=yes
#: counter any loads
#: counter user loads:u
#: counter machine loads:m
#: counter both loads:um
#: counter user_cycles cycles:u
#: counter machine_cycles cycles:m
#: counter machine_here instructions:m:ip=@_start-@end
#: counter machine_stalls commit_stalls:m:edge
#: counter user_calls system_calls:u
#: expect counter.any == 3
#: expect counter.user == 3
#: expect counter.machine == 0
#: expect counter.both == 3
#: expect counter.user_cycles == cycles
#: expect counter.machine_cycles == 0
#: expect counter.machine_here == 0
#: expect counter.machine_stalls == 0
#: expect counter.user_calls == 1
#
# A program is in user mode all the time: what a system call does takes no cycles of the core.
    .include "fact.inc"
    begin
    la a1, area
    ld a2, 0(a1)
    lw a3, 8(a1)
    lbu a4, 16(a1)
    finish
end:
