package flow_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
)

func TestRemainderCovers(t *testing.T) {
	cause, upload := uint64(flow.MarkOf(2, 50)), uint64(flow.MarkOf(7, 30))
	all := flow.Remainder{Low: 101, Through: true, Caused: 50, Uploaded: upload}
	for name, tt := range map[string]struct {
		change func(*flow.Remainder)
		covers bool
	}{
		"all of it":               {func(*flow.Remainder) {}, true},
		"its copy keeps some":     {func(m *flow.Remainder) { m.Through = false }, false},
		"it keeps the last":       {func(m *flow.Remainder) { m.Low = 100 }, false},
		"it may make a call anew": {func(m *flow.Remainder) { m.Caused = 49 }, false},
		"its client may":          {func(m *flow.Remainder) { m.Uploaded-- }, false},
		"it is gone":              {(*flow.Remainder).Nothing, true},
	} {
		m := all
		if tt.change(&m); m.Covers(100, cause, upload) != tt.covers {
			t.Errorf("%s: %v", name, !tt.covers)
		}
	}
}

func FuzzForget(f *testing.F) {
	q := flow.Inquiry{Of: 1, OfPart: entity.CellPart, By: 2, ByPart: entity.BasePart, Stamp: 1 << 50}
	a := flow.Remainder{To: 2, ToPart: entity.BasePart, From: 1, FromPart: entity.CellPart, Stamp: 1 << 50, Incarnation: 3, Low: 500, Through: true, Caused: 6, Uploaded: 7}
	f.Add(q.Append(nil))
	f.Add(a.Append(nil))
	// An end once had room for an address, which was read and forgotten.
	f.Add([]byte("\xc3\xc3\xc3\xc3\xc3\x03\x01\x06\x10\xec\xc3\xc3\x02\x77\xe8\x03\x8c\x8d\x1d\x06\x80\x80\x80\x80\x80\x80\x80\x02\x1f\xf4\x03\x01\x00\x10"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var q flow.Inquiry
		if q.Parse(b) == nil {
			if again := q.Append(nil); !bytes.Equal(again, b) {
				t.Errorf("%x is written as %x", b, again)
			}
		}
		var a flow.Remainder
		if a.Parse(b) == nil {
			if again := a.Append(nil); !bytes.Equal(again, b) {
				t.Errorf("%x is written as %x", b, again)
			}
		}
	})
}

// What is forgotten of a sender that is gone leaves numbers for the flows that begin later.
func TestGoneSpendsNothing(t *testing.T) {
	var x flow.Prospect
	var in flow.Receiver
	var q flow.Inquiry
	x.Ask(time.Second, &q)
	a := flow.Remainder{Stamp: q.Stamp}
	a.Nothing()
	if !x.Take(&a, &in, 0, 0) || !x.Nothing || !a.Gone() {
		t.Fatalf("%+v", x)
	}
	if v := in.Accept(0, 1, 7, nil, nil); v != flow.Duplicate {
		t.Errorf("what comes late from it is taken: %v", v)
	}
	now := time.Minute
	out := flow.NewSender(flow.Begins(now, in.Spent()))
	if n, err := out.Add(now, []byte("later")); err != nil || n != uint64(now/time.Microsecond)+1 {
		t.Errorf("a later flow has number %d, %v", n, err)
	}
}
