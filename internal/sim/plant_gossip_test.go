package sim

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// TestPlantedWhisper loses or doubles a call that a script makes of another entity's client. It is a
// call of one who does not end: who has ended when the world rests says no more what it had said.
func TestPlantedWhisper(t *testing.T) {
	for name, plant := range map[string]func(msg []byte) []byte{
		"lost":    func([]byte) []byte { return nil },
		"doubled": func(msg []byte) []byte { return append(bytes.Clone(msg), msg...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planted := false
			c, err := New(Options{Seed: 7, Players: 3, Wild: Wild{Gossips: 6}, Faults: 10 * time.Second,
				Tamper: func(p *Process, _ mercury.ChannelID, reliable bool, msg []byte) []byte {
					direct := bytes.Contains(msg, []byte("client")) && !bytes.Contains(msg, []byte("client relay"))
					if planted || !reliable || !direct || !ofFounder(p.c.world, 6, msg) || !strings.HasPrefix(p.Name, "player") || p.c.now < 8*time.Second || protocol.ID(msg[0]) != protocol.CallID {
						return msg
					}
					planted = true
					return plant(msg)
				}})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Run(); err == nil || !planted || !strings.Contains(err.Error(), "promise 3") {
				t.Errorf("planted: %v, noticed as: %v", planted, err)
			}
		})
	}
}

// ofFounder reports whether a call is of one of the gossips that the world began with, which do not end.
func ofFounder(w *world, founders int, msg []byte) bool {
	return slices.ContainsFunc(w.gossips[:founders], func(id entity.ID) bool {
		return bytes.Contains(msg, []byte(id.String()+" "))
	})
}

// What reaches a waif comes in order, once; some may be missing only where it may have been lost sight of.
func TestMayReach(t *testing.T) {
	for _, lossy := range []bool{false, true} {
		w := &world{lossy: func() bool { return lossy }}
		last := heardCall{life: 2, n: 5}
		for _, c := range []struct {
			life, n uint32
			want    bool
		}{{2, 6, true}, {2, 5, false}, {2, 4, false}, {1, 6, false}, {3, 5, true}, {3, 6, true}, {2, 7, lossy}, {3, 7, lossy}} {
			if got := w.mayReach(last, c.life, c.n); got != c.want {
				t.Errorf("lossy %v: %d of life %d after %v: %v", lossy, c.n, c.life, last, got)
			}
		}
	}
}
