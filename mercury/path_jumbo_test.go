package mercury_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// A channel that may send jumbo datagrams first finds out that usual ones pass, and uses what the
// path carries, whatever becomes of it.
func TestJumboPath(t *testing.T) {
	const usual = 1472
	for _, test := range []struct {
		name         string
		first, later int // MTU of the path; 0 for any
		want         [2]int
	}{
		{"jumbo", 0, 0, [2]int{mercury.JumboMTU, mercury.JumboMTU}},
		{"usual", usual, usual, [2]int{mercury.DefaultMTU, mercury.DefaultMTU}},
		{"narrow", 1300, 1300, [2]int{1263, 1263}}, // half way to 1452 twice
		{"jumbo, then usual", 0, usual, [2]int{mercury.JumboMTU, mercury.DefaultMTU}},
	} {
		t.Run(test.name, func(t *testing.T) {
			link := mercurytest.Link{Delay: 5 * time.Millisecond, MTU: test.first}
			g := newChaosGame(t, 1, mercury.Config{MTU: mercury.JumboMTU}, link, chaosDown, chaosUp)
			e, ch := g.sides[0].e, g.sides[0].ch
			for i, mtu := range [...]int{test.first, test.later} {
				link.MTU = mtu
				g.w.Net.SetLink(link)
				for range 5 {
					if err := e.SendBulk(ch, make([]byte, 200_000)); err != nil {
						t.Fatal(err)
					}
					g.play(time.Second)
				}
				s, _ := e.ChannelStats(ch)
				if s.MTU != test.want[i] {
					t.Errorf("datagrams of up to %d bytes on a path of %d, want %d", s.MTU, mtu, test.want[i])
				}
				if s.InFlight > 0 && s.Loss > 0.1 {
					t.Errorf("%+v", s)
				}
			}
			g.drain()
		})
	}
}

// Where the path does not carry jumbo datagrams, a channel tries one three times, and again after
// minutes.
func TestJumboTries(t *testing.T) {
	g := newChaosGame(t, 1, mercury.Config{MTU: mercury.JumboMTU}, mercurytest.Link{Delay: 5 * time.Millisecond, MTU: 1472}, chaosDown, chaosUp)
	g.play(time.Minute)
	if tries := g.w.Net.Counts().TooBig; tries != 2*3 {
		t.Errorf("both sides tried %d datagrams that are too long in a minute, want 3 each", tries)
	}
	g.drain()
}
