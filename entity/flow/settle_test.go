package flow_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

// What is delivered after a backup was taken is not in that backup.
func TestInSettlesWhatIsBackedUp(t *testing.T) {
	var in flow.Receiver
	deliver := func([]byte) {}
	take := func(n uint64) { in.Accept(1, 1, n, nil, deliver) }
	take(1)
	take(2)
	in.Save()
	take(3)
	in.TakeOwed()
	in.Confirm()
	if in.Settled() != 2 || !in.TakeOwed() {
		t.Errorf("settled %d, want 2, and the sender told", in.Settled())
	}
	in.Confirm()
	if in.TakeOwed() {
		t.Error("an ack that says nothing new is owed")
	}
	in.Save()
	var moved flow.Receiver
	r := codec.NewReader(in.Append(nil))
	moved.Read(&r)
	if r.Close() != nil || moved.Settled() != 2 || moved.Last() != 3 {
		t.Fatalf("on its way it became %+v", moved)
	}
	moved.Confirm()
	if moved.Settled() != 3 {
		t.Error("a move forgets what the backup contains that is to be confirmed")
	}
	in.Restore()
	if in.Settled() != 3 || in.TakeOwed() {
		t.Error("what comes out of a backup is settled, and nobody need be told")
	}
	in.Accept(2, 1, 1, nil, deliver) // the sender was restored: another stream
	in.Confirm()
	if in.Settled() != 0 || in.Last() != 1 {
		t.Errorf("%d of %d of a new stream are settled", in.Settled(), in.Last())
	}
}

func TestInCountsLost(t *testing.T) {
	var in flow.Receiver
	deliver := func([]byte) {}
	in.Accept(1, 5, 5, nil, deliver) // a stream may begin anywhere
	in.Accept(1, 5, 6, nil, deliver)
	if n := in.TakeLost(); n != 0 {
		t.Errorf("%d lost", n)
	}
	in.Accept(1, 9, 9, nil, deliver)
	if n := in.TakeLost(); n != 2 || in.TakeLost() != 0 {
		t.Errorf("%d lost, want 7 and 8", n)
	}
}

func TestOutProbes(t *testing.T) {
	var o flow.Sender
	asked := func(now time.Duration) (n uint64) {
		o.Probe(now, 10*time.Second, func(number uint64, _ []byte) { n = number })
		return n
	}
	o.Add(0, []byte("a"))
	o.Add(0, []byte("b"))
	if asked(time.Minute) != 0 {
		t.Error("what was not acknowledged is due, not asked for")
	}
	o.Received(time.Minute, 2)
	if asked(time.Minute+9*time.Second) != 0 || asked(time.Minute+10*time.Second) != 1 || asked(time.Minute+11*time.Second) != 0 {
		t.Error("it asks too early, too often, or not at all")
	}
	o.Settle(2*time.Minute, 1)
	if asked(2*time.Minute+9*time.Second) != 0 || asked(2*time.Minute+10*time.Second) != 2 {
		t.Error("it does not wait after something was settled")
	}
	o.Settle(3*time.Minute, 2)
	if asked(time.Hour) != 0 {
		t.Error("it asks though nothing is kept")
	}
}

// A restored target gets what it lacks at once; so does the target of a restored sender.
func TestOutRewindIsDueAtOnce(t *testing.T) {
	o := sending(4)
	o.Received(0, 4)
	o.Settle(0, 1)
	o.Rewind(4)
	if o.Due(0) {
		t.Error("a target that has everything is sent something")
	}
	o.Rewind(2)
	if o.Unreceived() != 2 || !o.Due(0) {
		t.Errorf("%d to send, due %v", o.Unreceived(), o.Due(0))
	}
	n := 0
	o.Each(0, func(uint64, []byte) { n++ })
	if n != 2 || o.Due(0) {
		t.Errorf("%d sent, due again %v", n, o.Due(0))
	}
	var back flow.Sender
	r := codec.NewReader(o.Append(nil))
	back.Read(&r)
	back.Restart(1)
	if r.Close() != nil || back.Unreceived() != 3 || back.Low() != 2 || back.Bytes() != 3 {
		t.Errorf("restored with %d to send from %d on, %d bytes", back.Unreceived(), back.Low(), back.Bytes())
	}
}

func TestOutKeepsNoMoreThanItsBytes(t *testing.T) {
	var o flow.Sender
	p := make([]byte, flow.MaxPayload)
	n := uint64(0)
	for {
		_, err := o.Add(0, p)
		if err != nil {
			if !errors.Is(err, flow.ErrFull) {
				t.Fatal(err)
			}
			break
		}
		n++
	}
	if o.Bytes() > flow.MaxKeptBytes || n != flow.MaxKeptBytes/flow.MaxPayload {
		t.Errorf("%d bytes in %d messages", o.Bytes(), n)
	}
	o.Settle(0, 1)
	if _, err := o.Add(0, p); err != nil {
		t.Errorf("after one was settled: %v", err)
	}
}

func FuzzAck(f *testing.F) {
	a := flow.Ack{To: 1, ToPart: entity.CellPart, From: 2, FromPart: entity.CellPart, Incarnation: 3, Life: 4, Number: 500, Settled: 400}
	f.Add(a.Append(nil))
	a.Gone, a.Stream = true, 2
	f.Add(a.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var a flow.Ack
		if a.Parse(b) != nil {
			return
		}
		if a.Settled > a.Number {
			t.Errorf("%d of %d are settled", a.Settled, a.Number)
		}
		if a.Stream > a.Incarnation {
			t.Errorf("stream %d is of incarnation %d", a.Stream, a.Incarnation)
		}
		if again := a.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%x is written as %x", b, again)
		}
	})
}

// TestTruncatedOutIsEmpty: a flow that ended in the middle of its payloads was taken for one that had settled
// them, and broke when its sender was restored.
func TestTruncatedOutIsEmpty(t *testing.T) {
	o := flow.NewSender(500000)
	for _, say := range []string{"hit", "run", "hide"} {
		if _, err := o.Add(0, []byte(say)); err != nil {
			t.Fatal(err)
		}
	}
	o.Restart(1)
	whole := o.Append(nil)
	for n := range whole {
		r := codec.NewReader(whole[:n])
		got := flow.NewSender(7)
		got.Read(&r)
		if r.Err() == nil {
			t.Fatalf("%d of %d bytes were taken for a flow", n, len(whole))
		}
		got.Restart(2)
		if got.Last() != 0 || got.Kept() != 0 || got.Unsent() {
			t.Fatalf("of %d bytes it keeps %d messages, last %d", n, got.Kept(), got.Last())
		}
	}
}
