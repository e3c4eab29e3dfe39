package baseapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
)

// slowness is how many times the cell part was told of a slow client.
func (r *rig) slowness() int {
	told := map[uint64]bool{} // by number: nobody acks, so all is sent again
	for _, m := range r.net.sent {
		if m.to == appX && len(m.msg) > 0 {
			var f flow.Message
			if f.Parse(m.msg[1:]) == nil && len(f.Payload) > 0 && flow.Payload(f.Payload[0]) == flow.SlowClientPayload {
				told[f.Number] = true
			}
		}
	}
	return len(told)
}

// A client that is slow is told less, and nothing else happens to it; one that takes nothing is
// told why it is closed. Others do not feel it.
func TestSlowClient(t *testing.T) {
	r := joinedRig(t)
	p, _, _ := r.playLive()
	at := r.net.peers[p.ch]
	r.net.waiting = map[mercury.Address]int{at: SlowClient - 1}
	r.net.sent = nil
	r.pass(3 * time.Second)
	if n := r.slowness(); n != 0 {
		t.Errorf("the cell part was told %d times of a client that keeps up", n)
	}
	r.net.waiting[at] = SlowClient
	for range 30 {
		r.pass(100 * time.Millisecond)
	}
	if n := r.slowness(); n != 3 {
		t.Errorf("the cell part was told %d times in 3 s", n)
	}
	r.net.waiting[at] = queueLimit/2 + 1
	r.tick()
	p.wantRefused(protocol.TooSlow)
}

// A CellApp that does not keep up gets no new reals and no tails; what is said to a real meanwhile
// waits, and goes in order when there is room.
func TestCellAppWithoutRoom(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	r.net.waiting = map[mercury.Address]int{appX: queueLimit / 4}
	r.take(appX)
	say := func() { _ = v.Cell().Call("hurt", int32(1)) }
	say()
	if got := r.flow(appX); len(got) != 1 {
		t.Fatalf("below the half %v went", got)
	}
	r.net.waiting[appX] = queueLimit / 2
	say()
	say()
	r.pass(5 * time.Second)
	if got := r.flow(appX); len(got) != 0 {
		t.Fatalf("%v went to an app that has no room", got)
	}
	r.net.waiting[appX] = queueLimit / 4
	r.pass(5 * time.Second)
	if got := r.flow(appX); len(got) != 0 {
		t.Fatalf("what waits went before the way was free: %v", got)
	}
	r.net.waiting[appX] = 0
	r.tick()
	if got := r.flow(appX); len(got) < 2 {
		t.Fatalf("%v went", got)
	}
	if b, _ := r.view(id); b.Unreceived < 3 {
		t.Errorf("%d unreceived", b.Unreceived)
	}
}
