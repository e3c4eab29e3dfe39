package mercury

import (
	"math/rand/v2"
	"testing"
)

// Whatever channels come and go, each is found, and none that has ended.
func TestChannelIsFound(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	e := &Endpoint{channels: make(map[ChannelID]*channel)}
	var live []ChannelID
	missed := 0
	for id := ChannelID(7000); id < 12000; id++ {
		c := &channel{id: id}
		e.channels[id] = c
		e.near.add(c, e.channels)
		live = append(live, id)
		for len(live) > 0 && (chance.IntN(3) == 0 || len(live) > 300) {
			i := chance.IntN(len(live))
			gone := e.channels[live[i]]
			delete(e.channels, gone.id)
			e.near.remove(gone)
			live = append(live[:i], live[i+1:]...)
			if e.channel(gone.id) != nil {
				t.Fatalf("channel %d has ended", gone.id)
			}
		}
		for _, id := range live {
			if c := e.channel(id); c == nil || c.id != id {
				t.Fatalf("channel %d is not found", id)
			}
			if at := e.near.slots[int(id)&(len(e.near.slots)-1)]; at == nil || at.id != id {
				missed++
			}
		}
	}
	if n := len(e.near.slots); n < 600 || n > 2048 {
		t.Errorf("%d slots for 300 channels", n)
	}
	if missed == 0 {
		t.Error("no two channels ever had the same slot, so that nothing is known of the map behind it")
	}
}
