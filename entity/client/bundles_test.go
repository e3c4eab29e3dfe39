package client

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// Gaps and repeats in the numbers of the cell part's bundles are counted; a new incarnation begins anew.
func TestBundlesMissed(t *testing.T) {
	r := newRig(t)
	r.play()
	for _, n := range []uint64{2, 3, 5, 5} {
		r.say(r.cell(n))
	}
	if n := r.c.Stats().BundlesMissed; n != 2 {
		t.Errorf("%d missed", n)
	}
	r.say(protocol.AppendReset(nil))
	r.say(r.cellPlayer().Append(r.cell(1)))
	r.say(r.cell(2))
	if n := r.c.Stats().BundlesMissed; n != 2 {
		t.Errorf("then %d", n)
	}
}
