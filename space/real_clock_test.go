package space

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

func vec(x float32) property.Vector3 { return property.Vector3{X: x} }

// An entity that goes to and fro between a cell that is ahead and one that is not never sees its
// time go back, and its timer comes as often as on one cell: each second of game time, neither
// doubled nor put off.
func TestTimersBetweenCellsOfDifferentRate(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.Border.Band, c.Dwell = 1, tickPeriod })
	r.tick(1)
	r.create(7, -50, 0)
	began := r.avatar(7).Now()
	if _, err := r.avatar(7).AddTimer(time.Second, time.Second, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.dilate(500, 2) // app 1 has not heard yet, and does not for a while
	var last time.Duration
	hops := 0
	for i := range 120 {
		if i == 40 {
			r.dilate(500, 1)
		}
		if i%7 == 6 {
			hops++
			if err := r.avatar(7).SetPosition(vec([]float32{-50, 50}[hops%2])); err != nil {
				t.Fatal(err)
			}
		}
		r.tick(1)
		now := r.avatar(7).Now()
		if now < last {
			t.Fatalf("tick %d: game time went back from %v to %v", i, last, now)
		}
		last = now
	}
	if hop := r.real(7).Order().Hop; hop < 10 {
		t.Fatalf("the entity moved %d times only", hop)
	}
	fired := 0
	for i := 0; i+6 < len(r.avatar(7).Diary.Get()); i++ {
		if r.avatar(7).Diary.Get()[i:i+7] == "timer 1" {
			fired++
		}
	}
	if want := int((last - began) / time.Second); fired < want-1 || fired > want {
		t.Errorf("the timer came %d times in %v of game time", fired, last-began)
	}
}

// What comes from another time keeps how long its timers have to go.
func TestTimersFromAnotherTime(t *testing.T) {
	for name, c := range map[string]struct {
		space byte
		stamp time.Duration
		want  time.Duration // when a timer is due that has 3 s to go, on a cell at 100 s
		ahead time.Duration
	}{
		"the same space, earlier": {1, 99 * time.Second, 102 * time.Second, 99 * time.Second},
		"long on the way":         {1, 75 * time.Second, 78 * time.Second, 75 * time.Second},
		"the same space, later":   {1, 101 * time.Second, 104 * time.Second, 101 * time.Second},
		"far ahead":               {1, 100*time.Second + maxAhead + 1, 103 * time.Second, 0},
		"far behind":              {1, 100*time.Second - maxUnderWay - 1, 103 * time.Second, 0},
		"another space":           {2, 99 * time.Second, 103 * time.Second, 0},
	} {
		cell := &Cell{space: 1, game: 100 * time.Second}
		r := &Real{cell: cell}
		if _, err := r.timers.Add(cell.game, 3*time.Second, 0, "OnTimer", 1); err != nil {
			t.Fatal(err)
		}
		from := &Real{cell: &Cell{space: entity.SpaceID(c.space), game: c.stamp}}
		rd := codec.NewReader(from.appendClock(nil))
		r.readClock(&rd)
		if err := rd.Close(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.timers.Due(c.want-1) || !r.timers.Due(c.want) || r.Now() != max(c.ahead, cell.game) {
			t.Errorf("%s: not due at %v; now %v", name, c.want, r.Now())
		}
	}
	r := &Real{cell: &Cell{space: 1}}
	rd := codec.NewReader([]byte{1, 1}) // -1 ns
	if r.readClock(&rd); rd.Close() == nil {
		t.Error("game time before the beginning of time is taken")
	}
}

// A frozen copy that the base restores begins anew in the time of where it comes to.
func TestRestoredFromAnOfferHasNoOldTime(t *testing.T) {
	r := newRig(t, 1)
	r.tick(5)
	r.create(7, -50, 0)
	a := r.avatar(7)
	if _, err := a.AddTimer(time.Second, 0, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	parts := a.appendParts(nil, false)
	if err := migrate.EachPart(parts, func(migrate.Tag, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	r.now += time.Hour
	r.tick(1)
	r.restore(7, -50, parts, 0)
	r.tick(9)
	r.diary(7, "created;restored;")
	r.tick(1)
	r.diary(7, "created;restored;timer 1;")
}
