package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/daytime"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/property"
)

// staged is the script of what is on the stages of these tests.
type staged struct {
	*client.Replica
	Hp  property.Uint32
	say func(string, ...any) `cellscape:"local"`
}

func (s *staged) Wave(n uint32)                 { s.say("waved %d", n) }
func (s *staged) OnEntered()                    { s.say("entered with %d", s.Hp.Get()) }
func (s *staged) OnLeft()                       { s.say("left") }
func (s *staged) OnMoved()                      { s.say("moved to %v", s.Position.X) }
func (s *staged) OnSetHp(c *property.Change)    { s.say("hp %v was %v", c.New, c.Old) }
func (s *staged) shownAt(now time.Duration) any { p, _ := s.Shown(now); return p.X }

// What is on a stage is heard by scripts and events as what a client sees, unless it is muted.
func TestStage(t *testing.T) {
	num := property.Scalar(property.KindUint32)
	schema, err := property.NewSchema(&property.Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
		Properties:    []*property.Property{{Name: "hp", Type: num, Flags: property.AllClients}, {Name: "rank", Type: num, Flags: property.Base, ExposedForReplay: true}},
		CellMethods:   []*property.Method{{Name: "hit", Exposed: property.ExposedAll}},
		ClientMethods: []*property.Method{{Name: "wave", Args: []property.Arg{{Type: num}}}}},
		&property.Definition{Name: "Account", HasBase: true})
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	say := func(format string, args ...any) { heard = append(heard, fmt.Sprintf(format, args...)) }
	scripts := client.NewScripts(schema)
	client.Register(scripts, "Avatar", func() *staged { return &staged{say: say} })
	s, err := client.NewStage(client.Config{Schema: schema, Scripts: scripts, Filter: func(*client.Replica) client.Filter { return new(client.Raw) },
		Events: client.Events{
			Entered: func(r *client.Replica) { say("%v", r.ID) }, Left: func(r *client.Replica) { say("%v", r.ID) },
			SpaceData: func(d entity.SpaceDatum) { say("data %d %s", d.Key, d.Value) },
		}})
	if err != nil {
		t.Fatal(err)
	}
	hears := func(want string) {
		t.Helper()
		if got := strings.Join(heard, "; "); got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
		heard = nil
	}
	fill := func(v *property.Values) error {
		return errors.Join(v.Load(0, property.Uint(5)), v.Load(1, property.Uint(6)))
	}
	avatar := schema.Types[0]
	r, err := s.Enter(7, avatar, property.Vector3{X: 1}, property.Vector3{}, fill)
	if err != nil {
		t.Fatal(err)
	}
	hears("entered with 5; 0.7")
	if r.Props.Get(1).Uint() != 6 || r.Own() || s.Client().Entity(7) != r {
		t.Error("the replica is not as it should be")
	}
	s.SetNow(time.Second)
	if err := s.Move(r, property.Vector3{X: 2}, property.Vector3{}, client.Moves); err != nil || r.Age(3*time.Second) != 2*time.Second {
		t.Error(err, r.Age(3*time.Second))
	}
	set := func(v *property.Values) (property.Change, error) {
		c := property.Change{Index: 0, Old: v.Get(0), New: property.Uint(9)}
		return c, v.Load(0, c.New)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	must(s.Change(r, set))
	must(s.Call(r, 0, []byte{3, 0, 0, 0}))
	must(s.SetData(entity.SpaceDatum{Key: 4, Value: []byte("four")}))
	hears("moved to 2; hp 9 was 5; waved 3; data 4 four")
	s.Mute(true)
	must(s.Move(r, property.Vector3{X: 4}, property.Vector3{}, client.Rests))
	must(s.Call(r, 0, []byte{3, 0, 0, 0}))
	must(s.SetAllData([]entity.SpaceDatum{{Key: 5, Value: []byte("five")}}))
	hears("")
	s.Mute(false)
	hears("data 5 five; entered with 9; 0.7")
	if at := r.Script().(*staged).shownAt(time.Second); at != float32(4) {
		t.Error("the filter has", at)
	}
	must(s.SetData(entity.SpaceDatum{Key: spacekey.TimeOfDay, Value: daytime.Clock{Start: time.Hour, Speed: 1}.Append(nil)}))
	if day, ok := s.Client().TimeOfDay(); !ok || day != time.Hour+time.Second {
		t.Error("the time of day is", day, ok)
	}
	if err := r.Cell().Call("hit"); !errors.Is(err, client.ErrNotPlaying) {
		t.Error("a call to the server:", err)
	}
	s.Client().Logout()
	s.Client().Close()
	s.Clear()
	if s.Client().Len() != 0 {
		t.Error("it is not empty")
	}
}

// Who rides goes where its vehicle goes, whichever came first, and nobody hears it while it is muted.
func TestStageRide(t *testing.T) {
	schema, err := property.NewSchema(&property.Definition{Name: "Rock", HasCell: true, HasClient: true}, &property.Definition{Name: "Account", HasBase: true})
	if err != nil {
		t.Fatal(err)
	}
	heard := 0
	s, err := client.NewStage(client.Config{Schema: schema, Filter: func(*client.Replica) client.Filter { return new(client.Raw) },
		Events: client.Events{Moved: func(*client.Replica) { heard++ }, RideChanged: func(*client.Replica) { heard += 100 }}})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	enter := func(id entity.ID, x float32) *client.Replica {
		r, err := s.Enter(id, schema.Types[0], property.Vector3{X: x}, property.Vector3{}, func(*property.Values) error { return nil })
		must(err)
		return r
	}
	is := func(r *client.Replica, x float32, events int) {
		t.Helper()
		if at, _ := r.Shown(0); r.Position.X != x || at.X != x || heard != events {
			t.Errorf("it is at %v, shown at %v, after %d events; want %v after %d", r.Position.X, at.X, heard, x, events)
		}
		heard = 0
	}
	rider := enter(7, 1)
	must(s.Ride(rider, 8, property.Vector3{X: 2}, property.Vector3{}, client.Appears))
	if rider.Position.X != 1 || rider.Vehicle() != 8 || heard != 100 {
		t.Errorf("without its vehicle it is at %v, after %d events", rider.Position.X, heard)
	}
	heard = 0
	ship := enter(8, 10)
	is(rider, 12, 1)
	must(s.Move(ship, property.Vector3{X: 20}, property.Vector3{}, client.Moves))
	is(rider, 22, 2)
	must(s.Ride(rider, 8, property.Vector3{X: 3}, property.Vector3{}, client.Moves))
	is(rider, 23, 1)
	s.Mute(true)
	must(s.Move(ship, property.Vector3{X: 30}, property.Vector3{}, client.Moves))
	must(s.Ride(rider, 0, property.Vector3{X: 40}, property.Vector3{}, client.Moves))
	is(rider, 40, 0)
	must(s.Ride(rider, 8, property.Vector3{X: 4}, property.Vector3{}, client.Moves))
	is(rider, 34, 0)
	s.Mute(false)
	if s.Leave(7); s.Client().Len() != 1 {
		t.Error("it did not leave")
	}
	must(s.Move(ship, property.Vector3{X: 50}, property.Vector3{}, client.Moves)) // it carries nobody who has left
	for _, bad := range []entity.ID{8, 1 << 60} {
		if s.Ride(ship, bad, property.Vector3{}, property.Vector3{}, client.Moves) == nil {
			t.Errorf("it rides on %v", bad)
		}
	}
	if s.Ride(ship, 9, property.Vector3{X: 1e30}, property.Vector3{}, client.Moves) == nil {
		t.Error("a seat out of the world was taken")
	}
}

func TestStageRefuses(t *testing.T) {
	if _, err := client.NewStage(client.Config{}); err == nil {
		t.Error("no schema is needed")
	}
	schema, err := property.NewSchema(&property.Definition{Name: "Rock", HasCell: true, HasClient: true}, &property.Definition{Name: "Account", HasBase: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.NewStage(client.Config{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	far, none := property.Vector3{X: 1e30}, func(*property.Values) error { return nil }
	r, err := s.Enter(7, schema.Types[0], property.Vector3{}, property.Vector3{}, none)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"twice": func() error { _, err := s.Enter(7, schema.Types[0], far, far, none); return err },
		"far":   func() error { _, err := s.Enter(8, schema.Types[0], far, far, none); return err },
		"without id": func() error {
			_, err := s.Enter(0, schema.Types[0], property.Vector3{}, property.Vector3{}, none)
			return err
		},
		"no client": func() error {
			_, err := s.Enter(8, schema.Types[1], property.Vector3{}, property.Vector3{}, none)
			return err
		},
		"not filled": func() error {
			_, err := s.Enter(8, schema.Types[0], property.Vector3{}, property.Vector3{}, func(*property.Values) error { return errors.New("no") })
			return err
		},
		"moved far": func() error { return s.Move(r, far, far, client.Moves) },
		"called":    func() error { return s.Call(r, 0, nil) },
		"a bad day": func() error { return s.SetData(entity.SpaceDatum{Key: spacekey.TimeOfDay}) },
		"not changed": func() error {
			return s.Change(r, func(*property.Values) (property.Change, error) { return property.Change{}, errors.New("no") })
		},
	} {
		if f() == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if s.Client().Len() != 1 || s.Leave(9) {
		t.Error("what was refused is there")
	}
}
