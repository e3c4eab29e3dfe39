package space

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

// pass lets time pass.
func (r *rig) pass(d time.Duration) { r.tick(int(d/tickPeriod) + 1) }

// A base that had a tenth of a processor for two minutes restored a caller from a copy as old as
// that. The called entity had forgotten the caller after one, and handled its calls again.
func TestCallsOfTheLateRestoredAreKnown(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	b := r.create(8, 50, 1)
	r.tick(2)
	r.avatar(8).Diary.Set("")
	kept := *r.bases[7].backup
	r.bases[7].unsettled = true
	r.clientCall(7, 8, allMethod, arg(1)...)
	r.pass(2*PeerLease + 4*DefaultBackupPeriod)
	r.diary(8, "all 1 by 7;")
	r.die(r.apps[0])
	r.bases[7].unsettled, r.bases[7].uploads = false, 0
	r.restore(7, 40, kept.Parts, kept.Handled)
	r.clientCall(7, 8, allMethod, arg(1)...) // the base was restored, too, and its client says it again
	r.tick(20)
	r.diary(8, "all 1 by 7;")
	if n := b.count.Repeats; n != 1 {
		t.Errorf("%d repeats", n)
	}
	// Once a copy has it, it can be forgotten.
	r.pass(2*PeerLease + 4*DefaultBackupPeriod)
	if n := len(r.real(8).flows); n != 1 {
		t.Errorf("%d flows are kept", n)
	}
}

// A copy of a message that was under way for minutes came to an entity that had forgotten its sender.
func TestLateCopiesAreDoubted(t *testing.T) {
	for name, base := range map[string]bool{"based": true, "without bases": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2)
			caller, target := entity.ID(7), entity.ID(8)
			if base {
				r.create(7, -50, 1)
				r.create(8, 50, 1)
			} else {
				caller = r.spawn(-50).ID()
				target = r.spawn(50).ID()
			}
			r.tick(2)
			r.avatar(target).Diary.Set("")
			var late []packet
			r.arrive = func(p packet) {
				if m, ok := p.m.(*flow.Message); ok && m.From == caller && m.To == target {
					again := *m
					again.Payload = slices.Clone(m.Payload)
					late = append(late, packet{p.from, p.to, &again})
				}
			}
			call := func(n int) {
				if err := r.real(caller).Lookup(target, "Avatar", entity.CellMailbox).Call("hit", n); err != nil {
					t.Fatal(err)
				}
				r.tick(3)
			}
			call(1)
			said := r.avatar(target).Diary.Get()
			if said == "" || len(late) == 0 {
				t.Fatalf("it heard %q in %d messages", said, len(late))
			}
			r.pass(3*PeerLease + 4*DefaultBackupPeriod)
			if n := len(r.real(target).flows); base && n != 1 || !base && n != 0 {
				t.Fatalf("%d flows are kept", n)
			}
			r.queue = append(r.queue, late...)
			r.tick(3)
			r.diary(target, said)
			if r.apps[1].count.Doubted == 0 {
				t.Error("nothing was doubted")
			}
			call(2)
			if got := r.avatar(target).Diary.Get(); got == said {
				t.Error("it does not hear the caller any more")
			}
		})
	}
}

// What a sender keeps is taken, although its numbers may have been forgotten: it only takes a question more.
func TestDoubtedFlowsGoOn(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.create(8, 50, 1)
	r.tick(2)
	r.avatar(8).Diary.Set("")
	r.real(8).spent = r.real(8).begins() + uint64(time.Hour/time.Microsecond)
	r.clientCall(7, 8, allMethod, arg(1)...)
	r.clientCall(7, 8, allMethod, arg(2)...)
	r.pass(2 * flow.ResendAfter)
	r.diary(8, "all 1 by 7;all 2 by 7;")
	if n := r.apps[1].count.Doubted; n == 0 {
		t.Error("nothing was doubted")
	}
}

// What a real knows of flows that it may not forget goes with it to another cell, and into its backups.
func TestWhatIsBackedUpTravels(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.clientCall(7, 8, allMethod, arg(1)...)
	r.pass(2 * DefaultBackupPeriod)
	a := r.real(7)
	a.spent, a.uploads = 99, uploads{3, 4}
	a.inBackup, a.saving = contents{r.now - time.Second, 12, uploads{5, 6}}, 1
	if a.backed.at == 0 || a.backed.handled == 0 {
		t.Fatalf("nothing is backed up: %+v", a.backed)
	}
	for _, sending := range []bool{true, false} {
		b := &Real{cell: a.cell, e: a.e}
		rd := codec.NewReader(a.appendFlows(nil, sending))
		b.readFlows(&rd, !sending)
		if err := rd.Close(); err != nil || b.spent != 99 || b.backed.handled != a.backed.handled || b.backed.uploads != a.backed.uploads {
			t.Errorf("sending %v: %v, %d, %+v", sending, err, b.spent, b.backed)
		}
		if sending && (b.backed.at > a.backed.at || a.backed.at-b.backed.at > 2*patienceUnit || b.inBackup.at > a.inBackup.at || b.inBackup.uploads != a.inBackup.uploads) {
			t.Errorf("backed %+v and %+v came as %+v and %+v", a.backed, a.inBackup, b.backed, b.inBackup)
		}
		if !sending && (b.backed.at != 0 || b.saving != 0) {
			t.Errorf("a restored one has %+v", b.backed)
		}
	}
}
