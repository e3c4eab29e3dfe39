package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// TestTold: what a cell tells its clients is counted by kind, and clients are counted by the share of
// the budget that their paths leave. A cell whose clients have no room says how long they wait.
func TestTold(t *testing.T) {
	const n = 60
	r := crowdOf(t, n, 900)
	p := r.apps[0].cell.population
	was := p.Told(tickPeriod)
	if was.Enters == 0 || was.Updates == 0 || was.Crowded != 0 || was.Clients != [status.Shares]uint64{1} {
		t.Errorf("after the players met: %+v", was)
	}
	r.danced(n)
	r.avatar(100).Hp.Set(r.avatar(100).Hp.Get() + 1)
	r.avatar(7).Hp.Set(r.avatar(7).Hp.Get() + 1)
	bytes := 0
	for _, packet := range r.places[7] {
		bytes += len(packet)
	}
	r.tick(1)
	is := p.Told(tickPeriod)
	if is.Properties == was.Properties || is.Own == was.Own || is.PlacesSent != was.PlacesSent+n || is.Places < was.Places+uint64(bytes) || is.Enters != was.Enters || is.PlacesSkipped != 0 {
		t.Errorf("after a dance: %+v, before %+v", is, was)
	}

	m := flow.Session{Number: 1, Room: 900, Rate: 1000} // a tenth of that a tick, of 5000
	r.say(7, m.Append(nil, flow.SetClientPayload))
	for range 20 {
		for id := entity.ID(100); id < 100+n; id++ {
			r.avatar(id).Hp.Set(r.avatar(id).Hp.Get() + 1)
		}
		r.tick(1)
	}
	narrow := p.Told(tickPeriod)
	if narrow.Clients != [status.Shares]uint64{0, 0, 0, 1} || narrow.Crowded == 0 || narrow.Waited == 0 {
		t.Errorf("over a narrow path: %+v", narrow)
	}
	for range 5 {
		r.danced(n)
	}
	if danced := p.Told(tickPeriod); narrow.PlacesSkipped != 0 || danced.PlacesSkipped == 0 {
		t.Errorf("%d places were skipped over a narrow path before anybody moved, %d after", narrow.PlacesSkipped, danced.PlacesSkipped)
	}
	if allocs := testing.AllocsPerRun(10, func() { p.Told(tickPeriod) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
