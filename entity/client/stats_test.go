package client

import (
	"reflect"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// Every counter of another's Stats is added.
func TestStatsAdd(t *testing.T) {
	var a, b Stats
	v := reflect.ValueOf(&b).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Uint64 {
			v.Field(i).SetUint(uint64(i + 1))
		}
	}
	b.Ages.note(time.Second)
	a.Add(&b)
	a.Add(&b)
	v = reflect.ValueOf(a)
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Uint64 && v.Field(i).Uint() != 2*uint64(i+1) {
			t.Errorf("%s is %d, want %d", v.Type().Field(i).Name, v.Field(i).Uint(), 2*(i+1))
		}
	}
	if a.Ages.Worst != time.Second || a.Ages.Quantile(1) != time.Second {
		t.Errorf("ages %+v", a.Ages)
	}
}

func TestAges(t *testing.T) {
	var a Ages
	if a.Quantile(.5) != 0 {
		t.Error("an age of nothing")
	}
	for i := range 1000 {
		a.note(time.Duration(i) * time.Millisecond)
	}
	a.note(time.Hour)
	for q, want := range map[float64]time.Duration{0: 0, .01: 25 * time.Millisecond, .5: 800 * time.Millisecond, .99: 1600 * time.Millisecond, 1: time.Hour} {
		if got := a.Quantile(q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

// A client counts the places that it uses, their bytes, and how old the ones before were; not those that an
// entity had at rest.
func TestPlaceStats(t *testing.T) {
	r := newRig(t)
	r.play()
	r.say(r.enter(foe, 1).Append(r.cell(2)))
	var bytes uint64
	tell := func(at time.Duration, number uint32, x float32) {
		r.now = at
		var e presence.Entity
		e.Put(property.Vector3{X: x}, property.Vector3{}, number)
		head := protocol.PacketHead{After: 2, Number: number}
		lists := protocol.Lists{protocol.Flagged: {Aliases: []uint32{0}, Entries: protocol.AppendFar(nil, &e, head.Origin)}}
		packet := lists.Append(head.Append(nil))
		bytes += uint64(len(packet))
		r.whisper(packet)
	}
	tell(100*time.Millisecond, 1, 2)
	tell(200*time.Millisecond, 2, 3)
	tell(500*time.Millisecond, 4, 4)
	tell(510*time.Millisecond, 3, 3.5) // late: not used
	r.say(place(foe, 5).AppendRest(r.cell(3)))
	r.now = time.Hour
	st := r.c.Stats()
	if st.Packets != 4 || st.Places != 3 || st.PositionBytes != bytes || st.StalePositions != 1 || st.Ages.Worst != 300*time.Millisecond {
		t.Errorf("%+v", st)
	}
}
