package client

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// The server's word is applied at once, said to the script and the game, and repeated in the next
// move. While the server moves the player, the client does not.
func TestForced(t *testing.T) {
	r := newRig(t)
	var heard []bool
	r.c.cfg.Events.Forced = func(own *Replica) {
		if !own.Own() {
			t.Error("another entity is forced")
		}
		heard = append(heard, r.c.Controls())
	}
	r.play()
	if !r.c.Controls() {
		t.Error("the client has no control of its own player")
	}
	dir, at := property.Vector3{X: 1}, property.Vector3{X: 50, Z: 2}
	_ = r.c.SetPosition(property.Vector3{X: 2}, dir)
	forced := protocol.Forced{Number: 300, Control: true, Position: at, Direction: dir}
	r.say(forced.Append(r.cell(2)))
	if r.c.Player().Position != at || r.c.Player().Direction != dir || !r.c.AtRest() {
		t.Errorf("at %v, at rest %v", r.c.Player().Position, r.c.AtRest())
	}
	r.tick()
	if m, _ := r.moves(); len(m) != 0 {
		t.Errorf("the client uploads the old place: %v", m)
	}
	_ = r.c.SetPosition(property.Vector3{X: 51}, dir)
	r.tick()
	if m, _ := r.moves(); len(m) != 1 || m[0].Forced != 300 {
		t.Errorf("the next moves are %v", m)
	}
	forced = protocol.Forced{Number: 301, Position: at, Direction: dir}
	r.say(forced.Append(r.cell(3)))
	r.tick()
	if err := r.c.SetPosition(property.Vector3{X: 52}, dir); !errors.Is(err, ErrNoControl) || r.c.Controls() {
		t.Errorf("moved without the control: %v", err)
	}
	if m, _ := r.moves(); len(m) != 0 || len(heard) != 2 || !heard[0] || heard[1] || r.c.Stats().Forced != 2 {
		t.Errorf("moves %v, heard %v, %d forced", m, heard, r.c.Stats().Forced)
	}
	// Nothing is forced outside of a space.
	r.say(protocol.AppendCellGone(r.cell(4)))
	if r.c.Controls() {
		t.Error("the client has the control of nothing")
	}
	r.say(forced.Append(r.cell(5)))
	if r.c.State() != Closed || !errors.Is(r.c.Err(), protocol.ErrMalformed) {
		t.Errorf("a forced place without a place: %v, %v", r.c.State(), r.c.Err())
	}
}

// heroic is a player's script that hears of forced places.
type heroic struct {
	*Replica
	forced []property.Vector3 `cellscape:"local"`
}

func (h *heroic) Chat(string) {}
func (h *heroic) OnForced()   { h.forced = append(h.forced, h.Position) }

func TestForcedHook(t *testing.T) {
	schema := testSchema(t)
	s := NewScripts(schema)
	RegisterPlayer[heroic](s, "Avatar")
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	r := rigOf(t, schema)
	r.c.cfg.Scripts = s
	r.play()
	forced := protocol.Forced{Number: 2, Control: true, Position: property.Vector3{X: 9}}
	r.say(forced.Append(r.cell(2)))
	if h := r.c.Player().Script().(*heroic); len(h.forced) != 1 || h.forced[0].X != 9 {
		t.Errorf("the script heard of %v", h.forced)
	}
	// Other entities' scripts have no such hook.
	Register[heroic](s, "Avatar")
	if s.Err() == nil {
		t.Error("a script of others may wait for what never comes")
	}
}
