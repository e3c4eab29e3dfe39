package witness

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// replica is what the model of a client holds of an entity.
type replica struct {
	place  protocol.Place
	alias  uint32
	born   uint64 // the bundle that last told the place reliably
	moved  uint64 // the bundle before the packet that last told it otherwise
	packet uint32 // that packet
	held   *property.Values
	props  map[int]string // the values as told, encoded
	calls  []uint32

	told, entered uint64            // bundles: the last with properties, and the one of the Enter
	news          map[int][2]uint64 // by property: the packet that told it, and the bundle before that
	whisper       [2]uint32         // the packet with the last call in news, and its place there

	ride *presence.Ride // nil if it is on no vehicle
}

// model is a small client. It fails the test on anything that the protocol forbids.
type model struct {
	t       testing.TB
	def     *property.Definition
	number  uint64
	has     map[entity.ID]*replica
	log     []string // of the last bundle
	heard   []string // in packets, since the last look
	parts   int      // changes of parts so far
	direct  int      // bytes of messages that are not the witness's
	entered int      // bytes of the properties of the last Enter
	unpack  property.Compressor

	alias map[uint32]*replica
	kept  map[uint8]*replica
	// returned counts Returns.
	returned int
	shifts   int // seats told in packets
	seen     protocol.Seen
	// truth is, by packet, where everyone was when it was made.
	truth map[uint32]map[entity.ID]protocol.Place
}

func newModel(t testing.TB, d *property.Definition) *model {
	return &model{t: t, def: d, has: map[entity.ID]*replica{}, alias: map[uint32]*replica{}, kept: map[uint8]*replica{}, truth: map[uint32]map[entity.ID]protocol.Place{}}
}

func (m *model) bundle(b []byte) {
	m.t.Helper()
	m.log = m.log[:0]
	if b == nil {
		return
	}
	first := true
	err := protocol.Messages(b, func(id protocol.ID, body []byte) error {
		if first != (id == protocol.BundleID) {
			m.t.Fatalf("message %d of a bundle, first: %v", id, first)
		}
		first = false
		return m.message(id, body)
	})
	if err != nil {
		m.t.Fatal(err)
	}
	if len(m.log) == 0 && m.direct == 0 {
		m.t.Fatal("an empty bundle")
	}
}

func (m *model) message(id protocol.ID, body []byte) error {
	switch id {
	case protocol.BundleID:
		n, err := protocol.ParseBundle(body)
		if n != m.number+1 {
			m.t.Fatalf("bundle %d after %d", n, m.number)
		}
		m.number = n
		return err
	case protocol.EnterID:
		var x protocol.Enter
		if err := x.Parse(body); err != nil {
			return err
		}
		if m.has[x.ID] != nil {
			m.t.Fatalf("second enter of %v", x.ID)
		}
		if x.Type != m.def.ClientID {
			m.t.Fatalf("enter of type %d, want %d", x.Type, m.def.ClientID)
		}
		r := &replica{protocol.Place{ID: x.ID, Position: x.Position, Direction: x.Direction}, x.Alias, m.number, 0, 0, property.NewValues(m.def, property.OtherClientSide, nil), map[int]string{}, nil, m.number, m.number, map[int][2]uint64{}, [2]uint32{}, nil}
		m.has[x.ID] = r
		m.name(x.Alias, r)
		m.log = append(m.log, fmt.Sprintf("enter %d", x.ID))
		m.entered = len(x.Props)
		props, err := m.unpack.Unpack(x.Props, m.def.Packing(property.OtherClientStream), protocol.MaxProps)
		if err != nil {
			return err
		}
		return m.whole(r, props)
	case protocol.LeaveID:
		left, err := protocol.ParseLeave(body)
		if m.has[left] == nil {
			m.t.Fatalf("leave of %v, which is not there", left)
		}
		m.stay(left)
		delete(m.alias, m.has[left].alias)
		delete(m.has, left)
		m.log = append(m.log, fmt.Sprintf("leave %d", left))
		return err
	case protocol.KeepID:
		var x protocol.Keep
		if err := x.Parse(body); err != nil {
			return err
		}
		r := m.alias[x.Alias]
		if r == nil {
			m.t.Fatalf("nobody has the alias %d, and is to be kept", x.Alias)
		}
		for _, slot := range x.Drop {
			if m.kept[slot] == nil {
				m.t.Fatalf("slot %d is empty and is to be emptied", slot)
			}
			delete(m.kept, slot)
		}
		r.place, r.ride = m.seated(r), nil
		m.kept[x.Slot] = r
		m.stay(r.place.ID)
		delete(m.alias, r.alias)
		delete(m.has, r.place.ID)
		m.log = append(m.log, fmt.Sprintf("keep %d", r.place.ID))
	case protocol.ReturnID:
		return m.returns(body)
	case protocol.ChangesID:
		var x protocol.Changes
		if err := x.Parse(body); err != nil {
			return err
		}
		m.log = append(m.log, fmt.Sprintf("change %d", x.ID))
		r := m.need(x.ID)
		r.told = m.number
		return m.changes(r, x.Props)
	case protocol.CallID:
		var x protocol.Call
		if err := x.Parse(body); err != nil {
			return err
		}
		arg := binary.LittleEndian.Uint32(x.Args)
		r := m.need(x.ID)
		r.calls = append(r.calls, arg)
		m.log = append(m.log, fmt.Sprintf("call %d %d", x.ID, arg))
	case protocol.RestID:
		var p protocol.Place
		if err := p.ParseRest(body); err != nil {
			return err
		}
		// As in the client, this place is the last, unless something that was sent later has been
		// used.
		if r := m.need(p.ID); r.moved < m.number {
			r.place, r.born = p, m.number
		}
		m.log = append(m.log, fmt.Sprintf("rest %d", p.ID))
	case protocol.RideID:
		var x protocol.Ride
		if err := x.Parse(body); err != nil {
			return err
		}
		m.rides(&x)
	default:
		m.direct += len(body)
	}
	return nil
}

// rides takes the word on a ride, as the client does.
func (m *model) rides(x *protocol.Ride) {
	r := m.need(x.ID)
	m.log = append(m.log, fmt.Sprintf("ride %d", x.ID))
	switch {
	case x.Vehicle != 0:
		m.need(x.Vehicle)
		r.ride = &presence.Ride{Vehicle: x.Vehicle, Seat: presence.Spot{Position: x.Position, Direction: x.Direction}}
		r.born = m.number
	case r.moved < m.number:
		r.place, r.born, r.ride = x.Place, m.number, nil
	default:
		r.ride = nil
	}
}

// seated is where somebody is, by its vehicle if it is on one that is there.
func (m *model) seated(r *replica) protocol.Place {
	if r.ride == nil || m.has[r.ride.Vehicle] == nil {
		return r.place
	}
	v := m.has[r.ride.Vehicle].place
	at := r.ride.Seat.On(presence.Spot{Position: v.Position, Direction: v.Direction})
	return protocol.Place{ID: r.place.ID, Position: at.Position, Direction: at.Direction}
}

// stay leaves those who ride on what goes where they are.
func (m *model) stay(vehicle entity.ID) {
	for _, r := range m.has {
		if r.ride != nil && r.ride.Vehicle == vehicle {
			r.place = m.seated(r)
		}
	}
}

// shift takes the seat that a packet tells, as the client does.
func (m *model) shift(r *replica, h *protocol.PacketHead, x *protocol.Moved) {
	if r.ride == nil || h.After > m.number {
		return
	}
	at, to, ok := x.From(r.ride.Seat.Position, r.ride.Seat.Direction)
	if !ok {
		m.t.Fatalf("%v is nowhere on its vehicle", r.place.ID)
	}
	r.ride.Seat = presence.Spot{Position: at, Direction: to}
	r.moved, r.packet = max(r.moved, h.After), h.Number
	told := protocol.Place{ID: r.place.ID, Position: at, Direction: to}
	truth, ok := m.truth[h.Number][r.place.ID+seats]
	if on := m.truth[h.Number][r.place.ID+2*seats].ID; ok && (on != r.ride.Vehicle || !roughly(truth, told, m.def.Volatile)) {
		m.t.Fatalf("packet %d puts %v at the seat %v on %v, and it was at %v on %v", h.Number, r.place.ID, told, r.ride.Vehicle, truth, on)
	}
	m.shifts++
}

// seats is what is added to ids for the truth of seats, and twice that for vehicles.
const seats = 1 << 20

func (m *model) returns(body []byte) error {
	var x protocol.Return
	if err := x.Parse(body); err != nil {
		return err
	}
	r := m.kept[x.Slot]
	if r == nil {
		m.t.Fatalf("an entity returns from slot %d, which is empty", x.Slot)
	}
	delete(m.kept, x.Slot)
	id := r.place.ID
	if m.has[id] != nil {
		m.t.Fatalf("%v returns, and is there", id)
	}
	at, to, ok := x.From(r.place.Position, r.place.Direction)
	if !ok {
		m.t.Fatalf("%v is nowhere", id)
	}
	r.place.Position, r.place.Direction = at, to
	r.alias, r.born, r.moved, r.packet, r.calls = x.Alias, m.number, 0, 0, nil
	r.told, r.entered, r.news = m.number, m.number, map[int][2]uint64{}
	m.has[id] = r
	m.name(x.Alias, r)
	m.log = append(m.log, fmt.Sprintf("return %d", id))
	m.returned++
	return m.changes(r, x.Props)
}

func (m *model) need(id entity.ID) *replica {
	m.t.Helper()
	if m.has[id] == nil {
		m.t.Fatalf("a message about %v, which is not there", id)
	}
	return m.has[id]
}

// whole takes the values of an Enter.
func (m *model) whole(r *replica, b []byte) error {
	return protocol.Whole(m.def, b, func(i int, v property.Value) error {
		m.log = append(m.log, "set "+m.def.Properties[i].Name)
		if err := r.held.Load(i, v); err != nil {
			return err
		}
		m.said(r, i)
		return nil
	})
}

// changes makes changes of the whole and of parts.
func (m *model) changes(r *replica, b []byte) error {
	for len(b) > 0 {
		c, rest, err := r.held.ApplyClientChange(b)
		if err != nil {
			return err
		}
		b = rest
		if mark, ok := r.news[c.Index]; ok && mark[1] >= m.number {
			if err := r.held.Load(c.Index, c.Old); err != nil {
				return err
			}
			continue
		}
		what := "set "
		if c.Nested() {
			what = "part "
			m.parts++
			if _, had := r.props[c.Index]; !had {
				m.t.Fatalf("a part of %s, which the client never had", m.def.Properties[c.Index].Name)
			}
		}
		m.log = append(m.log, what+m.def.Properties[c.Index].Name)
		m.said(r, c.Index)
	}
	return nil
}

func (m *model) said(r *replica, i int) {
	before := r.props[i]
	r.props[i] = string(r.held.AppendValue(nil, i))
	if m.def.Properties[i].Name == rising && before != "" && binary.LittleEndian.Uint32([]byte(before)) > binary.LittleEndian.Uint32([]byte(r.props[i])) {
		m.t.Fatalf("%v.%s falls from %x to %x", r.place.ID, rising, before, r.props[i])
	}
	if i == secret {
		m.t.Fatal("a client sees a private property")
	}
}

// packets takes all packets of a tick.
func (m *model) packets(all [][]byte) {
	m.t.Helper()
	for _, p := range all {
		m.packet(p)
	}
}

func (m *model) packet(b []byte) (entries int) {
	m.t.Helper()
	var reader protocol.PositionsReader
	err := reader.Read(b, func(h *protocol.PacketHead, x *protocol.Moved) {
		if entries++; entries == 1 && h.After <= m.number {
			m.seen.Note(h.Number)
		}
		r := m.alias[x.Alias]
		if r == nil || h.After < r.born || h.Number <= r.packet {
			return
		}
		if x.Seated() {
			m.shift(r, h, x)
			return
		}
		r.place, r.ride = m.seated(r), nil
		at, to, ok := x.From(r.place.Position, r.place.Direction)
		if !ok {
			m.t.Fatalf("%v is nowhere", r.place.ID)
		}
		r.place.Position, r.place.Direction = at, to
		r.moved, r.packet = max(r.moved, h.After), h.Number
		if truth, ok := m.truth[h.Number][r.place.ID]; ok && !roughly(truth, r.place, m.def.Volatile) {
			m.t.Fatalf("packet %d puts %v at %v, and it was at %v", h.Number, r.place.ID, r.place, truth)
		}
	}, func(h *protocol.PacketHead, n *protocol.News) {
		if entries++; entries == 1 && h.After <= m.number {
			m.seen.Note(h.Number)
		}
		if r := m.alias[n.Alias]; r != nil {
			m.hear(r, h, n)
		}
	})
	m.seen.Bundle = m.number
	if err != nil || entries == 0 {
		m.t.Fatalf("packet of %d entries: %v", entries, err)
	}
	return entries
}

// hear takes a piece of news, as the client does.
func (m *model) hear(r *replica, h *protocol.PacketHead, n *protocol.News) {
	m.t.Helper()
	if n.Call {
		method, args, err := n.Whisper(m.def)
		if err != nil || !method.Unreliable {
			m.t.Fatalf("news of a call: %v", err)
		}
		at := [2]uint32{h.Number, n.Order + 1}
		if h.After < r.entered || at[0] < r.whisper[0] || at[0] == r.whisper[0] && at[1] <= r.whisper[1] {
			return
		}
		r.whisper = at
		m.heard = append(m.heard, fmt.Sprintf("call %d %d", r.place.ID, binary.LittleEndian.Uint32(args)))
		return
	}
	err := protocol.Whole(m.def, n.Body, func(i int, v property.Value) error {
		p := m.def.Properties[i]
		if !p.Unreliable {
			m.t.Fatalf("news of %s, which is reliable", p.Name)
		}
		if h.After < r.told || r.news[i][0] >= uint64(h.Number) {
			return nil
		}
		r.news[i] = [2]uint64{uint64(h.Number), max(r.news[i][1], h.After)}
		if err := r.held.Load(i, v); err != nil {
			return err
		}
		m.said(r, i)
		m.heard = append(m.heard, fmt.Sprintf("set %d %s", r.place.ID, p.Name))
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// roughly compares places as a packet tells them.
func roughly(a, b protocol.Place, v property.Volatile) bool {
	const most, turn = 0.5/presence.Grid + 1.0/1024, math.Pi/256 + 1e-4
	near := func(x, y, by float64) bool { return math.Abs(x-y) <= by }
	return near(float64(a.Position.X), float64(b.Position.X), most) && near(float64(a.Position.Z), float64(b.Position.Z), most) &&
		(v.Bounded() || near(float64(a.Direction.X), float64(b.Direction.X), turn))
}

// name gives a replica its alias, which nobody else may have.
func (m *model) name(alias uint32, r *replica) {
	if m.alias[alias] != nil {
		m.t.Fatalf("alias %d names %v and %v", alias, m.alias[alias].place.ID, r.place.ID)
	}
	m.alias[alias] = r
}

// made notes where everyone is when packets are made.
func (m *model) made(packets [][]byte, all []*presence.Entity) {
	for _, p := range packets {
		_ = protocol.Positions(p, func(h *protocol.PacketHead, _ *protocol.Moved) {
			if m.truth[h.Number] == nil {
				m.truth[h.Number] = map[entity.ID]protocol.Place{}
				for _, e := range all {
					m.truth[h.Number][e.ID] = protocol.Place{ID: e.ID, Position: e.Position, Direction: e.Direction}
					m.truth[h.Number][e.ID+2*seats] = protocol.Place{ID: e.Ride.Vehicle}
					m.truth[h.Number][e.ID+seats] = protocol.Place{ID: e.ID, Position: e.Ride.Seat.Position, Direction: e.Ride.Seat.Direction}
				}
			}
		})
	}
}

// check demands that the client holds what it should and nothing else.
func (m *model) check(want []protocol.Expected) {
	m.t.Helper()
	if len(m.has) != len(want) {
		m.t.Fatalf("the client has %d entities, want %d", len(m.has), len(want))
	}
	for _, x := range want {
		r := m.need(x.Place.ID)
		if at := m.seated(r); at != x.Place {
			m.t.Fatalf("place is %+v, want %+v", at, x.Place)
		}
		if x.Type != m.def.ClientID {
			m.t.Fatalf("type %d, want %d", x.Type, m.def.ClientID)
		}
		err := protocol.Whole(m.def, x.Props, func(i int, v property.Value) error {
			if got, want := r.props[i], string(m.def.Properties[i].Type.AppendTo(nil, v)); got != want {
				m.t.Fatalf("%v.%s is %x, want %x", x.Place.ID, m.def.Properties[i].Name, got, want)
			}
			return nil
		})
		if err != nil {
			m.t.Fatal(err)
		}
	}
}
