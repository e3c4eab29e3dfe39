package host

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// holder is a carrier that holds something back, or not.
type holder struct {
	mercury.Carrier
	holds bool
}

func (h holder) HoldsBack() bool { return h.holds }

// An app that works in ticks sleeps longer, unless something waits for what its peers say next.
func TestSlowPace(t *testing.T) {
	const fast, slow = 5 * time.Millisecond, 25 * time.Millisecond
	free, holds := holder{}, holder{holds: true}
	mute := struct{ mercury.Carrier }{} // tells nothing
	for _, test := range []struct {
		name     string
		slow     time.Duration
		carriers []mercury.Carrier
		want     time.Duration
	}{
		{"nothing waits", slow, []mercury.Carrier{free, free}, slow},
		{"something waits", slow, []mercury.Carrier{free, holds}, fast},
		{"nobody knows", slow, []mercury.Carrier{free, mute}, fast},
		{"one pace alone", 0, []mercury.Carrier{free}, fast},
	} {
		p := &Process{carriers: test.carriers, opts: options{pace: fast, slowPace: test.slow}}
		if got := p.pace(); got != test.want {
			t.Errorf("%s: the pace is %v, want %v", test.name, got, test.want)
		}
	}
}
