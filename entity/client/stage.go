package client

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/daytime"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/property"
)

// Stage shows entities that no server tells of, such as those of a recording, as a client shows those
// that it sees: with the scripts, the filters and the events of a Config. So what draws a live world
// draws them, too. It has a Client without a session: nothing that it is asked to say to a server is
// said (ErrNotPlaying), and there is no player. Replicas hold the ReplaySide of their entities.
//
// A Stage and its Client belong to one goroutine.
type Stage struct{ c Client }

// NewStage returns an empty stage. It uses only the Schema, which is required, and Scripts, Filter,
// Events, PropertyStats and Log of cfg.
func NewStage(cfg Config) (*Stage, error) {
	all := faults.In("client: ")
	all.If(cfg.Schema == nil, "Config.Schema is nil: load the server's definitions")
	if cfg.Scripts != nil {
		if err := cfg.Scripts.Err(); err != nil {
			all.Add(err)
		}
	}
	if err := all.Err(); err != nil {
		return nil, err
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Stage{c: Client{cfg: cfg, log: cfg.Log, scratch: new(Scratch)}}, nil
}

// Client has the entities; see Client.Entities and Client.Entity.
func (s *Stage) Client() *Client { return &s.c }

// SetNow is the time of what follows, for filters, Replica.Age and Client.TimeOfDay: game time of the
// space.
func (s *Stage) SetNow(now time.Duration) { s.c.now = now }

// Mute(true) lets nobody hear what happens. Mute(false) ends that, and tells of all entities that are
// there as if they had just entered, and of all space data.
func (s *Stage) Mute(on bool) {
	if s.c.muted == on {
		return
	}
	s.c.muted = on
	if on {
		return
	}
	for _, d := range slices.Clone(s.c.data) {
		s.c.tellData(d)
	}
	for _, k := range slices.Clone(s.c.entities.order) {
		if r := s.c.entities.get(k.id); r != nil {
			s.entered(r)
		}
	}
}

func (s *Stage) entered(r *Replica) {
	r.play(Appears)
	if s.c.muted {
		return
	}
	r.tellEntered()
	if s.c.cfg.Events.Entered != nil {
		s.c.cfg.Events.Entered(r)
	}
}

// Clear removes all entities and all space data. Those who hear are told that the entities left.
func (s *Stage) Clear() {
	for _, k := range slices.Clone(s.c.entities.order) {
		s.Leave(k.id)
	}
	s.c.data, s.c.day = nil, dayClock{}
}

// errOnStage is returned for an entity that is on the stage already.
var errOnStage = errors.New("client: the entity is on the stage already")

// Enter brings an entity in. fill gives it its values; with its error the entity does not come.
func (s *Stage) Enter(id entity.ID, d *property.Definition, position, direction property.Vector3, fill func(*property.Values) error) (*Replica, error) {
	switch {
	case s.c.entities.get(id) != nil:
		return nil, fmt.Errorf("%w: %v", errOnStage, id)
	case !id.Valid() || d == nil || !d.HasClient:
		return nil, malformed("entity %v of a type that clients do not know", id)
	case !property.Finite(position) || !property.Finite(direction):
		return nil, ErrPosition
	}
	r := &Replica{ID: id, Def: d, Props: property.NewValues(d, property.ReplaySide, nil), client: &s.c}
	s.c.cfg.Scripts.bind(r)
	if err := fill(r.Props); err != nil {
		return nil, err
	}
	r.Position, r.Direction = position, direction
	s.c.entities.put(r)
	if s.c.cfg.Filter != nil {
		r.SetFilter(s.c.cfg.Filter(r))
	}
	s.entered(r)
	s.c.carry(r, 0) // who rides on it may have been there before
	return r, nil
}

// Leave takes an entity away, and reports false if it is not there.
func (s *Stage) Leave(id entity.ID) bool {
	r := s.c.entities.remove(id)
	if r == nil {
		return false
	}
	s.c.alight(r)
	if s.c.muted {
		return true
	}
	r.tellLeft()
	if s.c.cfg.Events.Left != nil {
		s.c.cfg.Events.Left(r)
	}
	return true
}

// Move puts an entity to another place: on its way, at rest, or wherever it was before. It ends no ride: who
// rides on what is on the stage goes where that goes next.
func (s *Stage) Move(r *Replica, position, direction property.Vector3, says Word) error {
	if !property.Finite(position) || !property.Finite(direction) {
		return ErrPosition
	}
	moves := r.Position != position || r.Direction != direction
	r.Position, r.Direction = position, direction
	s.hear(r, says)
	r.play(says)
	s.c.tellMoved(r, moves)
	if moves {
		s.c.carry(r, 0)
	}
	return nil
}

// hear notes how old a place is from now on: that of one at rest is where it says.
func (s *Stage) hear(r *Replica, says Word) {
	r.heard = 0
	if says == Moves {
		r.heard = uint32(s.c.now / time.Millisecond)
	}
}

// Ride puts an entity on a vehicle, at a seat (Replica.Seat), or moves it about there: from then on it goes
// where the vehicle goes. As long as that is not on the stage, it stays where it is. Vehicle 0 ends the
// ride, at a place in the world.
func (s *Stage) Ride(r *Replica, vehicle entity.ID, position, direction property.Vector3, says Word) error {
	at := presence.Spot{Position: position, Direction: direction}
	switch {
	case !property.Finite(position) || !property.Finite(direction):
		return ErrPosition
	case vehicle == r.ID || vehicle != 0 && !vehicle.Valid():
		return malformed("%s %v rides on %v", r.Def.Name, r.ID, vehicle)
	}
	before, was := r.spot(), r.Vehicle()
	switch {
	case vehicle == 0:
		s.c.alight(r)
		r.putAt(at)
		r.play(Appears)
		s.c.carry(r, 0)
	case was == vehicle:
		r.riding().seat = at
		s.c.sitDown(r, 0)
		r.play(says)
	default:
		s.c.board(r, vehicle, at)
	}
	s.hear(r, says)
	if was != vehicle {
		s.c.tellRide(r)
	}
	s.c.tellMoved(r, r.spot() != before)
	return nil
}

// Change lets a function change the values of an entity, and tells of the change.
func (s *Stage) Change(r *Replica, change func(*property.Values) (property.Change, error)) error {
	c, err := change(r.Props)
	if err != nil {
		return err
	}
	if !s.c.muted {
		s.c.tellChanged(r, &c)
	}
	return nil
}

// Call calls a client method of an entity.
func (s *Stage) Call(r *Replica, method int, args []byte) error {
	if method < 0 || method >= len(r.Def.ClientMethods) {
		return malformed("%s has no client method %d", r.Def.Name, method)
	}
	if s.c.muted {
		return nil
	}
	return s.c.called(r, r.Def.ClientMethods[method], args)
}

// SetAllData makes these all entries of the space's data, and tells of what differs. It keeps the values.
func (s *Stage) SetAllData(all []entity.SpaceDatum) error {
	for _, had := range slices.Clone(s.c.data) {
		stays := slices.ContainsFunc(all, func(d entity.SpaceDatum) bool { return d.Key == had.Key && d.ID == had.ID })
		if !stays {
			if err := s.SetData(entity.SpaceDatum{Key: had.Key, ID: had.ID, Removed: true}); err != nil {
				return err
			}
		}
	}
	for _, d := range all {
		i, there := s.c.findData(d.Key, d.ID)
		if there && bytes.Equal(s.c.data[i].Value, d.Value) {
			continue
		}
		if err := s.SetData(d); err != nil {
			return err
		}
	}
	return nil
}

// SetData sets or removes an entry of the space's data. It keeps the value.
func (s *Stage) SetData(d entity.SpaceDatum) error {
	if d.Key == spacekey.TimeOfDay {
		return s.setDay(d)
	}
	s.c.dropData(d)
	if !d.Removed {
		if len(s.c.data) >= MaxSpaceData {
			return malformed("more than %d entries of space data", MaxSpaceData)
		}
		i, _ := s.c.findData(d.Key, d.ID)
		s.c.data = slices.Insert(s.c.data, i, d)
	}
	if !s.c.muted {
		s.c.tellData(d)
	}
	return nil
}

// setDay sets the time of day, which clients are not told of as of other data.
func (s *Stage) setDay(d entity.SpaceDatum) error {
	s.c.day = dayClock{}
	if d.Removed {
		return nil
	}
	from, err := daytime.Parse(d.Value)
	if err != nil {
		return malformed("%w", err)
	}
	s.c.day = dayClock{told: true, from: from}
	return nil
}
