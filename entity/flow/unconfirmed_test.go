package flow

import (
	"testing"

	"github.com/cellscape/cellscape/internal/codec"
)

// A target that was restored from a copy which nobody has confirmed has handled what the copy says, and has
// settled no more than was settled before. The next copy settles the rest.
func TestRestoreUnconfirmed(t *testing.T) {
	var in Receiver
	take := func(from, to uint64) {
		for n := from; n <= to; n++ {
			in.Accept(1, 1, n, nil, func([]byte) {})
		}
	}
	take(1, 3)
	in.Save()
	in.Confirm()
	take(4, 5)
	in.Save()

	var out Receiver
	r := codec.NewReader(in.Append(nil))
	out.Read(&r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	out.RestoreUnconfirmed()
	if out.Confirm(); out.Last() != 5 || out.Settled() != 3 || out.Owed() {
		t.Errorf("it has handled %d and settled %d, an ack is owed: %v", out.Last(), out.Settled(), out.Owed())
	}
	out.Save()
	if out.Confirm(); out.Settled() != 5 || !out.Owed() {
		t.Errorf("it has settled %d, an ack is owed: %v", out.Settled(), out.Owed())
	}
}
