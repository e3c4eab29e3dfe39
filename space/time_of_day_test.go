package space

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/daytime"
)

// days are what a client was told of the time of day.
func (r *rig) days(id entity.ID) (list []protocol.TimeOfDay) {
	ids, bodies := r.bundles(id)
	for i, id := range ids {
		var m protocol.TimeOfDay
		if id == protocol.TimeOfDayID && m.Parse(bodies[i]) == nil {
			list = append(list, m)
		}
	}
	return list
}

// All cells have the time of day that one of them has set, clients are told it, and it follows game
// time.
func TestTimeOfDay(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -300, 1)
	r.tick(3)
	if _, ok := r.real(7).TimeOfDay(); ok {
		t.Error("it has a time of day already")
	}
	if r.real(7).SetTimeOfDay(-1, 1) == nil || r.real(7).SetTimeOfDay(0, daytime.MaxSpeed+1) == nil {
		t.Error("nonsense is taken")
	}
	if err := r.apps[1].cell.SetTimeOfDay(6*time.Hour, 60); err != nil {
		t.Fatal(err)
	}
	r.tick(int(10 * time.Second / tickPeriod))
	near := func(what string, got, want time.Duration) {
		t.Helper()
		if d := got - want; d < -time.Second || d > time.Second {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for _, a := range r.apps {
		day, _ := a.cell.TimeOfDay()
		near("the time of day", day, 6*time.Hour+10*time.Minute)
	}
	if told := r.days(7); len(told) != 1 || told[0].Speed != 60 {
		t.Fatalf("the client was told %v", told)
	}
	near("what the client heard first", r.days(7)[0].Day, 6*time.Hour+6*time.Second)
	r.dilate(500, 1, 2)
	before, _ := r.real(7).TimeOfDay()
	r.tick(int(10 * time.Second / tickPeriod))
	after, _ := r.real(7).TimeOfDay()
	if after-before > 8*time.Minute {
		t.Errorf("%v of the day went by in 10 s of half a pace", after-before)
	}
	if told := r.days(7); len(told) < 2 || told[len(told)-1].Speed != 30 {
		t.Errorf("the client was told %v", told)
	}
}
