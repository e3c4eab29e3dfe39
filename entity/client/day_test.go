package client

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// The time of day goes on from what the client was told last, at the pace that came with it, past midnight,
// and is unknown in another space.
func TestTimeOfDay(t *testing.T) {
	r := newRig(t)
	r.play()
	want := func(want time.Duration, wantOK bool) {
		t.Helper()
		if day, ok := r.c.TimeOfDay(); ok != wantOK || ok && (day-want).Abs() > time.Millisecond {
			t.Errorf("it is %v, %v, want %v, %v", day, ok, want, wantOK)
		}
	}
	pass := func(d time.Duration) {
		for end := r.now + d; r.now < end; {
			r.now += 100 * time.Millisecond
			r.say(r.cell(2)) // so that the line lives
			r.c.Tick(r.now)
		}
	}
	want(0, false)
	pass(5 * time.Second)
	r.say((&protocol.TimeOfDay{Day: 23*time.Hour + 50*time.Minute, Speed: 60}).Append(r.cell(3)))
	want(23*time.Hour+50*time.Minute, true)
	pass(4 * time.Second)
	want(23*time.Hour+54*time.Minute, true)
	pass(7 * time.Second)
	want(time.Minute, true)
	r.say((&protocol.TimeOfDay{Day: time.Hour, Speed: 0}).Append(r.cell(4)))
	pass(3 * time.Second)
	want(time.Hour, true)
	r.say(protocol.AppendLeaveSpace(r.cell(5)))
	want(0, false)
}
