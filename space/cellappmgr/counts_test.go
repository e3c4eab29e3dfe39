package cellappmgr

import (
	"reflect"
	"testing"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// fill gives each field of a struct of counters a value of its own.
func fill(counters any) {
	v := reflect.ValueOf(counters).Elem()
	for i := range v.NumField() {
		v.Field(i).SetUint(uint64(i + 1))
	}
}

// Whatever the manager and its Seat count, the status names.
func TestCountsInTheStatus(t *testing.T) {
	r := newRig(t, nil)
	r.m.seatCounts = new(SeatCounts)
	if got := r.m.Status().Apps[0].Counts; got["seat.Turned"] != 0 {
		t.Errorf("before anything has happened: %v", got)
	}
	fill(&r.m.counts)
	fill(r.m.seatCounts)
	want := make(status.Counts)
	want.Take("cellappmgr", r.m.counts)
	want.Take("seat", *r.m.seatCounts)
	if n := reflect.TypeFor[Counts]().NumField() + reflect.TypeFor[SeatCounts]().NumField(); len(want) != n {
		t.Errorf("%d of %d counters have a name", len(want), n)
	}
	if got := r.m.Status().Apps[0].Counts; !reflect.DeepEqual(got, want) {
		t.Errorf("the status has %v, want %v", got, want)
	}
}
