package mercury

import (
	"testing"
	"time"
)

// An Endpoint tells whether anything waits for an ack or the pace before it can leave.
func TestHoldsBack(t *testing.T) {
	l, ch, _, hb := newPairLink(t, Config{}, 5*time.Millisecond)
	_ = l.a.Send(ch, []byte("a word"))
	l.run(10*time.Millisecond, nil)
	if l.a.HoldsBack() {
		t.Error("a short message is held back")
	}
	_ = l.a.SendBulk(ch, make([]byte, 1<<20))
	l.run(5*time.Millisecond, nil)
	if !l.a.HoldsBack() {
		t.Error("a megabyte leaves at once")
	}
	l.run(10*time.Second, nil)
	if l.a.HoldsBack() || len(hb.bulk) != 1 {
		t.Errorf("all has come (%d), and something is held back: %v", len(hb.bulk), l.a.HoldsBack())
	}
	_ = l.a.SendBulk(ch, make([]byte, 1<<20))
	l.run(5*time.Millisecond, nil)
	l.a.Abort(ch)
	if l.a.HoldsBack() {
		t.Error("a channel that has ended holds something back")
	}
}
