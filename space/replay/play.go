package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
)

// This file has what the records of a chunk do to what is shown.

// reading is a recording.Reader of one log.
type reading struct {
	*Player
	s *source
}

// play plays one chunk.
func (p *Player) play(s *source, chunk int, h recording.Head) error {
	if h.Key {
		s.keys++
		s.keyed = true
		clear(s.aliases) // all are given anew
	}
	return s.log.Read(chunk, reading{p, s})
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{recording.ErrMalformed}, args...)...)
}

// find returns what is shown of an entity, nil if it is not, and where it is or would be.
func (p *Player) find(id entity.ID) (*track, int) {
	i, found := slices.BinarySearchFunc(p.tracks, id, func(t *track, id entity.ID) int { return cmp.Compare(t.r.ID, id) })
	if !found {
		return nil, i
	}
	return p.tracks[i], i
}

// alias returns what a log means by an alias. It is nil for one that was given before the place in the
// log to which a seek has gone.
func (r reading) alias(n uint32) (*alias, error) {
	if int(n) < len(r.s.aliases) && r.s.aliases[n] != nil {
		return r.s.aliases[n], nil
	}
	if r.s.keyed {
		return nil, malformed("an alias that names nothing")
	}
	return nil, nil
}

// current returns what is shown of an entity, if the log still speaks for it.
func (r reading) current(n uint32) (*alias, *track, error) {
	a, err := r.alias(n)
	if a == nil {
		return nil, nil, err
	}
	t, _ := r.find(a.id)
	if t == nil || t.order != a.order {
		r.stats.Stale++
		return a, nil, nil
	}
	return a, t, nil
}

// State implements recording.Reader.
func (r reading) State(n uint32, st *recording.ReadState) error {
	d := r.cfg.Schema.ByID(st.Type)
	if d == nil || !d.HasClient {
		return malformed("type %d", st.Type)
	}
	for int(n) >= len(r.s.aliases) {
		r.s.aliases = append(r.s.aliases, nil)
	}
	a := &alias{id: st.ID, order: st.Order, spot: st.Spot}
	if st.Vehicle != 0 {
		a.vehicle, a.spot = st.Vehicle, st.Seat
	}
	r.s.aliases[n] = a
	t, at := r.find(st.ID)
	if t != nil && st.Order.Before(t.order) || r.buried(st.ID, st.Order) {
		r.stats.Stale++
		return nil
	}
	if t != nil && t.r.Def != d {
		return malformed("%v was a %s and is a %s", st.ID, t.r.Def.Name, d.Name)
	}
	if t == nil {
		shown, err := r.stage.Enter(st.ID, d, st.Spot.Position(), st.Spot.Direction(), func(v *property.Values) error { return fill(v, st) })
		if err != nil {
			return err
		}
		t = &track{r: shown}
		r.tracks = slices.Insert(r.tracks, at, t)
	} else if err := r.goOn(t, st); err != nil {
		return err
	}
	if err := r.seat(t, st); err != nil {
		return err
	}
	t.order, t.source, t.key, t.adrift = st.Order, r.s, r.s.keys, false
	return nil
}

// fill gives values what a State has.
func fill(v *property.Values, st *recording.ReadState) error {
	rest, err := v.ReadStream(st.Cell, property.CellReplayStream)
	if err == nil && len(rest) == 0 && st.HasBase {
		rest, err = v.ReadStream(st.Base, property.BaseReplayStream)
	}
	return whole(rest, err)
}

func whole(rest []byte, err error) error {
	if err == nil && len(rest) > 0 {
		err = errors.New("bytes left over")
	}
	if err != nil {
		return malformed("%w", err)
	}
	return nil
}

// goOn brings an entity that is shown to a State: what differs is told as changes.
func (r reading) goOn(t *track, st *recording.ReadState) error {
	v := property.NewValues(t.r.Def, property.ReplaySide, nil)
	if err := fill(v, st); err != nil {
		return err
	}
	for _, stream := range []property.Stream{property.CellReplayStream, property.BaseReplayStream} {
		if stream == property.BaseReplayStream && !st.HasBase {
			continue
		}
		for _, i := range t.r.Def.Stream(stream) {
			if err := r.set(t, i, v.Get(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// seat puts an entity where a State has it: on its vehicle, if that is shown.
func (r reading) seat(t *track, st *recording.ReadState) error {
	if st.Vehicle == 0 {
		return r.move(t, 0, &st.Spot)
	}
	t.world = st.Spot
	if v, _ := r.find(st.Vehicle); v == nil {
		if err := r.stage.Move(t.r, st.Spot.Position(), st.Spot.Direction(), client.Appears); err != nil {
			return err
		}
	}
	return r.move(t, st.Vehicle, &st.Seat)
}

// set gives a property another value.
func (p *Player) set(t *track, i int, to property.Value) error {
	if property.Equal(t.r.Props.Get(i), to) {
		return nil
	}
	return p.stage.Change(t.r, func(v *property.Values) (property.Change, error) {
		c := property.Change{Index: i, Old: v.Get(i), New: to}
		return c, v.Load(i, to)
	})
}

// move puts an entity where a log has it: on a vehicle, or in the world.
func (p *Player) move(t *track, vehicle entity.ID, to *recording.Spot) error {
	position, direction := to.Position(), to.Direction()
	atPosition, atDirection := t.r.Position, t.r.Direction
	if vehicle != 0 {
		atPosition, atDirection = t.r.Seat()
	}
	if position == atPosition && direction == atDirection && vehicle == t.r.Vehicle() {
		return nil
	}
	if t.moved = p.now; !t.moving {
		t.moving = true
		p.moving = append(p.moving, t)
	}
	if vehicle != 0 || t.r.Vehicle() != 0 {
		return p.stage.Ride(t.r, vehicle, position, direction, client.Moves)
	}
	return p.stage.Move(t.r, position, direction, client.Moves)
}

// Ride implements recording.Reader.
func (r reading) Ride(n uint32, vehicle entity.ID, at *recording.Spot) error {
	a, t, err := r.current(n)
	if a == nil {
		return err
	}
	if a.vehicle, a.spot = vehicle, *at; t == nil {
		return nil
	}
	return r.move(t, vehicle, at)
}

// Place implements recording.Reader.
func (r reading) Place(n uint32, by *recording.Spot) error {
	a, t, err := r.current(n)
	if a == nil {
		return err
	}
	if !a.spot.Add(by) {
		return malformed("a place out of range")
	}
	if t == nil {
		return nil
	}
	return r.move(t, a.vehicle, &a.spot)
}

// Change implements recording.Reader.
func (r reading) Change(n uint32, index int, change []byte) error {
	_, t, err := r.current(n)
	if t == nil {
		return err
	}
	if index >= len(t.r.Def.Properties) || !t.r.Def.Properties[index].ExposedForReplay {
		return malformed("property %d of %s is not recorded", index, t.r.Def.Name)
	}
	return r.stage.Change(t.r, func(v *property.Values) (property.Change, error) {
		c, rest, err := v.ApplyChange(change, index)
		return c, whole(rest, err)
	})
}

// Call implements recording.Reader. Calls of an older hop are heard, since no other log has them.
func (r reading) Call(n uint32, method int, _ bool, args []byte) error {
	a, err := r.alias(n)
	if a == nil {
		return err
	}
	t, _ := r.find(a.id)
	if t == nil || t.order.Incarnation != a.order.Incarnation {
		r.stats.Stale++
		return nil
	}
	return r.stage.Call(t.r, method, args)
}

// Left implements recording.Reader.
func (r reading) Left(n uint32, ended bool) error {
	a, t, err := r.current(n)
	if a == nil {
		return err
	}
	r.s.aliases[n] = nil
	switch {
	case ended:
		r.graves = append(r.graves, grave{a.id, a.order, r.now})
		if t != nil {
			r.leave(t)
		}
	case t != nil:
		r.drift(t)
	}
	return nil
}

// EndKey implements recording.Reader: of what the log held and does not name any more it has said
// nothing, since the sink refused that.
func (r reading) EndKey() error {
	for _, t := range r.tracks {
		if t.source == r.s && t.key != r.s.keys && !t.adrift {
			r.drift(t)
		}
	}
	return nil
}

// Close implements recording.Reader. What the log holds is shown on, as at the end of a film.
func (r reading) Close() error { return nil }

// Data implements recording.Reader.
func (r reading) Data(d *recording.Datum) error {
	if d.Number <= r.data {
		return nil
	}
	r.data = d.Number
	return r.stage.SetData(kept(d))
}

// AllData implements recording.Reader.
func (r reading) AllData(last uint64, all []recording.Datum) error {
	if last < r.data || last == r.data && last > 0 {
		return nil
	}
	r.data = last
	entries := make([]entity.SpaceDatum, len(all))
	for i := range all {
		entries[i] = kept(&all[i])
	}
	return r.stage.SetAllData(entries)
}

// kept is a datum that lives on.
func kept(d *recording.Datum) entity.SpaceDatum {
	x := d.SpaceDatum
	x.Value = slices.Clone(x.Value)
	return x
}
