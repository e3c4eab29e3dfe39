package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

func TestEveryMessageIsApplied(t *testing.T) {
	r := newRig(t)
	r.play()
	_ = r.others.Load(health, property.Int(80))
	r.say(r.enter(foe, 2).Append(r.cell(2)))
	r.wantEvents("enter 1.7 health 80")

	_ = r.others.Load(health, property.Int(70))
	_ = r.others.Load(title, property.StringValue("duke"))
	pairs := appendValue(appendValue(nil, health, r.others), title, r.others)
	changes := protocol.Changes{ID: foe, Props: pairs}
	r.say(changes.Append(r.cell(3)))
	r.say(changes.Append(r.cell(4))) // the same again changes nothing
	r.wantEvents("1.7.health = 70", `1.7.title = "duke"`)

	_ = r.own.Load(mana, property.Int(9))
	_ = r.own.Load(gold, property.Int(8))
	r.say(appendOwn(r.cell(5), protocol.OwnPropertyID, mana, r.own))
	r.say(appendOwn(nil, protocol.BasePropertyID, gold, r.own))
	r.wantEvents("1.1.mana = 9", "1.1.gold = 8")

	_ = r.own.Load(mana, property.Int(10))
	_ = r.own.Load(gold, property.Int(11))
	short, _ := protocol.AppendOwnValue(r.cell(5), r.own, &property.Change{Index: mana})
	short, _ = protocol.AppendOwnValue(short, r.own, &property.Change{Index: gold})
	r.say(short)
	r.say(short) // the same again changes nothing
	r.wantEvents("1.1.mana = 10", "1.1.gold = 11")

	args, _ := r.schema.Type("Avatar").ClientMethods[0].AppendArgs(nil, []property.Value{property.StringValue("hi")})
	r.say((&protocol.Call{ID: foe, Args: args}).Append((&protocol.Call{ID: me, Args: args}).Append(r.cell(6))))
	r.wantEvents(`1.1.chat(["hi"])`, `1.7.chat(["hi"])`)

	r.say(place(foe, 5).AppendRest(r.cell(7)))
	r.wantEvents("moved 1.7 to {5 0 0}")

	r.say((&protocol.SpaceData{Key: 4, Value: []byte("rain")}).Append(r.cell(8)))
	r.say((&protocol.SpaceData{Key: 4, Value: []byte("sun")}).Append(r.cell(9)))
	r.wantEvents("space data 4 = rain", "space data 4 = sun")
	r.say((&protocol.SpaceData{Key: 4, Entry: 8, Value: []byte("wind")}).Append(nil))
	r.say((&protocol.SpaceData{Key: 4, Entry: 6, Value: []byte("fog")}).Append(nil))
	r.say((&protocol.SpaceDataGone{Key: 4, Entry: 8}).Append(nil))
	r.wantEvents("space data 4 = wind", "space data 4 = fog", "space data 4 = ")
	if got := fmt.Sprint(maps.Collect(r.c.AllSpaceData(4))); got != "map[0:[115 117 110] 6:[102 111 103]]" {
		t.Errorf("it has %s", got)
	}
	if v, ok := r.c.SpaceData(4); !ok || string(v) != "sun" {
		t.Errorf("space data %q %v", v, ok)
	}
	r.say((&protocol.SpaceData{Key: 4, Value: []byte("hail")}).Append(protocol.AppendSpaceDataAnew(nil)))
	r.wantEvents("space data 4 = ", "space data 4 = ", "space data 4 = hail")
	if n := len(maps.Collect(r.c.AllSpaceData(4))); n != 1 {
		t.Errorf("it has %d entries", n)
	}

	r.say(r.enter(foe, 6).Append(r.cell(10))) // again: replaces
	r.wantEvents("left 1.7", "enter 1.7 health 70")
	r.say(protocol.AppendLeave(r.cell(11), foe))
	r.wantEvents("left 1.7")

	r.say(r.enter(foe, 2).Append(r.cell(12)))
	r.say(protocol.AppendReset(nil))
	if _, ok := r.c.SpaceData(4); ok || r.c.Len() != 0 || r.c.InWorld() || r.c.Entity(me) == nil {
		t.Error("a reset leaves something, or takes the base player")
	}
	r.say(r.cellPlayer().Append(r.cell(1)))
	r.say(protocol.AppendCellGone(r.cell(2)))
	if r.c.InWorld() || r.c.SetPosition(property.Vector3{}, property.Vector3{X: 1}) == nil {
		t.Error("in the world without a cell part")
	}
	r.wantEvents("enter 1.7 health 70", "reset", "cell player at {1 0 1} mana 10", "cell gone")
	if s := r.c.Stats(); s.Malformed+s.UnknownEntities+s.UnknownMessages != 0 || s.CellBundles != 16 {
		t.Errorf("stats %+v", s)
	}
}

func TestEntitiesAreInOrder(t *testing.T) {
	r := newRig(t)
	r.play()
	const seed = 3
	rnd := rand.New(rand.NewPCG(seed, seed))
	naive := map[entity.ID]bool{}
	for i := range 500 {
		id := foe + entity.ID(rnd.IntN(50))
		if rnd.IntN(2) == 0 {
			r.say(r.enter(id, 0).Append(r.cell(uint64(i + 2))))
			naive[id] = true
		} else {
			r.say(protocol.AppendLeave(r.cell(uint64(i+2)), id))
			delete(naive, id)
		}
		var got []entity.ID
		for e := range r.c.Entities() {
			got = append(got, e.ID)
			if r.c.Entity(e.ID) != e || !naive[e.ID] {
				t.Fatalf("step %d of seed %d: entity %v", i, seed, e.ID)
			}
		}
		if !slices.IsSorted(got) || len(got) != len(naive) || r.c.Len() != len(got) {
			t.Fatalf("step %d of seed %d: %v, want %d", i, seed, got, len(naive))
		}
	}
}

// packet is a Positions packet of entities from foe on, in the order of their ids.
func packet(after uint64, number uint32, places ...*protocol.Place) []byte {
	head := protocol.PacketHead{After: after, Number: number}
	var aliases []uint32
	var entries []byte
	for _, p := range places {
		aliases = append(aliases, uint32(p.ID-foe))
		e := &presence.Entity{}
		e.Put(p.Position, p.Direction, 1)
		entries = protocol.AppendFar(entries, e, head.Origin)
	}
	lists := protocol.Lists{protocol.Flagged: {Aliases: aliases, Entries: entries}}
	return lists.Append(head.Append(nil))
}

func TestOrderOfPlaces(t *testing.T) {
	r := meeting(t)
	for _, x := range []struct {
		name  string
		do    func()
		at    float32
		stale uint64
	}{
		{"newer", func() { r.whisper(packet(5, 3, place(foe, 2))) }, 2, 0},
		{"late", func() { r.whisper(packet(5, 2, place(foe, 1))) }, 2, 1},
		{"doubled", func() { r.whisper(packet(5, 3, place(foe, 2))) }, 2, 1},
		{"from before its Enter", func() { r.whisper(packet(4, 99, place(foe, 1))) }, 2, 1},
		{"ahead of its bundle", func() { r.whisper(packet(7, 4, place(foe, 4))) }, 4, 0},
		{"a Rest overtaken by a packet", func() { r.say(place(foe, 3).AppendRest(r.cell(6))) }, 4, 1},
		{"far ahead", func() { r.whisper(packet(7+maxAhead, 90, place(foe, 9))) }, 4, 1},
		{"a Rest after it", func() { r.say(place(foe, 5).AppendRest(r.cell(8))) }, 5, 0},
		{"from before the Rest", func() { r.whisper(packet(7, 6, place(foe, 6))) }, 5, 1},
		{"goes on from there", func() { r.whisper(packet(8, 7, place(foe, 8))) }, 8, 0},
		{"of another incarnation", func() {
			r.c.incarnation++
			r.whisper(packet(8, 8, place(foe, 9)))
			r.c.incarnation--
		}, 8, 1},
	} {
		before := r.c.Stats().StalePositions
		x.do()
		if got := r.c.Entity(foe).Position.X; got != x.at || r.c.Stats().StalePositions-before != x.stale {
			t.Errorf("%s: at %v, want %v; %d stale, want %d", x.name, got, x.at, r.c.Stats().StalePositions-before, x.stale)
		}
	}
}

// The client says which packets have come, also when it does not move itself.
func TestSaysWhatItHasSeen(t *testing.T) {
	r := meeting(t)
	for _, number := range []uint32{3, 1, 4} {
		r.whisper(packet(5, number, place(foe, 2)))
	}
	sent := func() (all []protocol.Sight) {
		r.net.Sent = nil
		r.tick()
		for _, m := range r.net.Sent {
			_ = protocol.Messages(m.Message, func(id protocol.ID, body []byte) error {
				var m protocol.Sight
				if id == protocol.SightID && m.Parse(body) == nil {
					all = append(all, m)
				}
				return nil
			})
		}
		return all
	}
	want := protocol.Seen{Bundle: 5, Packet: 4, Earlier: 1<<0 | 1<<2}
	if all := sent(); len(all) != 1 || all[0].Seen != want {
		t.Errorf("the client said %+v, want %+v", all, want)
	}
	if all := sent(); len(all) != 0 {
		t.Errorf("the client said %+v again", all)
	}
}

// A packet that has overtaken a bundle does not count as seen: what it told of entities that enter
// in the bundle is lost here. A witness that took it for known would use the near form for them,
// next to a place that the client does not hold, and misplace them by a multiple of four metres.
func TestOvertakingIsNotSeen(t *testing.T) {
	r := meeting(t)
	for _, x := range []struct {
		after  uint64
		number uint32
		seen   bool
		at     float32
	}{{5, 1, true, 1}, {6, 3, false, 3}, {5, 2, true, 3}, {7, 4, false, 4}} {
		r.whisper(packet(x.after, x.number, place(foe, float32(x.number)), place(foe+1, 50)))
		if got := r.c.seen.Has(x.number); got != x.seen || r.c.Entity(foe).Position.X != x.at {
			t.Errorf("packet %d after bundle %d: seen is %v; at %v", x.number, x.after, got, r.c.Entity(foe).Position)
		}
	}
	r.say(r.enter(foe+1, 0).Append(r.cell(6)))
	r.say(r.cell(7))
	if r.whisper(packet(7, 5, place(foe+1, 51))); !r.c.seen.Has(5) || r.c.seen.Has(4) || r.c.seen.Has(3) {
		t.Errorf("seen: %+v", r.c.seen)
	}
}

func TestPacketsBeforeTheSession(t *testing.T) {
	r := newRig(t)
	r.attach()
	r.whisper(packet(1, 1, place(foe, 1)))
	if r.c.State() != Attaching || r.c.Err() != nil {
		t.Errorf("state %v, error %v", r.c.State(), r.c.Err())
	}
}

func TestUnknownIsCounted(t *testing.T) {
	r := newRig(t)
	r.play()
	r.say((&protocol.Changes{ID: foe, Props: []byte{1, 2, 3}}).Append(nil))
	r.say((&protocol.Call{ID: foe, Method: 999}).Append(nil))
	r.say(place(foe, 1).AppendRest(nil))
	r.say(protocol.AppendLeave(nil, foe))
	r.whisper(packet(1, 1, place(foe, 1)))
	b, mark := protocol.Begin(nil, 100)
	r.say(protocol.End(append(b, 1, 2, 3), mark))
	if s := r.c.Stats(); s.UnknownEntities != 5 || s.UnknownMessages != 1 || r.c.State() != Playing {
		t.Errorf("stats %+v, error %v", s, r.c.Err())
	}
	r.wantEvents()
}

// secretPair is a property beyond those that clients see, as the server alone could number it.
// Values.AppendClientValue would not write it.
func secretPair(d *property.Definition) []byte {
	visible := 0
	for _, p := range d.Properties {
		if p.ClientIndex >= 0 {
			visible++
		}
	}
	return binary.LittleEndian.AppendUint32([]byte{byte(visible << 1)}, 5)
}

func TestMalformedEndsTheSession(t *testing.T) {
	pair := func(i int, v *property.Values) []byte { return appendValue(nil, i, v) }
	for name, f := range map[string]func(r *rig) []byte{
		"frame":              func(r *rig) []byte { return []byte{byte(protocol.EnterID), 200} },
		"attached twice":     func(r *rig) []byte { return (&protocol.Attached{}).Append(nil) },
		"second base player": func(r *rig) []byte { return (&protocol.BasePlayer{ID: me}).Append(nil) },
		"cell player short": func(r *rig) []byte {
			return (&protocol.CellPlayer{Space: 1}).Append(nil)
		},
		"cell player nowhere": func(r *rig) []byte {
			m := r.cellPlayer()
			m.Space = 0
			return m.Append(nil)
		},
		"cell player long": func(r *rig) []byte {
			m := r.cellPlayer()
			m.Props = append(m.Props, 0)
			return m.Append(nil)
		},
		"enter of unknown type": func(r *rig) []byte { return (&protocol.Enter{ID: foe, Type: 99}).Append(nil) },
		"enter of server type": func(r *rig) []byte {
			return (&protocol.Enter{ID: foe, Type: r.schema.Type("Engine").ClientID}).Append(nil)
		},
		"enter by the server's number of a type": func(r *rig) []byte {
			return (&protocol.Enter{ID: foe, Type: r.schema.Type("Avatar").ID}).Append(nil)
		},
		"enter of oneself": func(r *rig) []byte { return (&protocol.Enter{ID: me}).Append(nil) },
		"enter under the name of another": func(r *rig) []byte {
			return (&protocol.Enter{ID: foe + 3, Alias: 5}).Append((&protocol.Enter{ID: foe + 2, Alias: 5}).Append(nil))
		},
		"enter under too high a name": func(r *rig) []byte { return (&protocol.Enter{ID: foe, Alias: protocol.NoAlias + 1}).Append(nil) },
		"enter of nobody":             func(r *rig) []byte { return (&protocol.Enter{}).Append(nil) },
		"enter with more properties than clients see": func(r *rig) []byte {
			return (&protocol.Enter{ID: foe, Props: secretPair(r.schema.Type("Avatar"))}).Append(nil)
		},
		"enter with another's own": func(r *rig) []byte {
			return (&protocol.Enter{ID: foe, Props: pair(mana, r.own)}).Append(nil)
		},
		"keep of nobody":   func(r *rig) []byte { return (&protocol.Keep{Alias: 3}).Append(nil) },
		"return of nobody": func(r *rig) []byte { return (&protocol.Return{Slot: 3}).Append(nil) },
		"return out of any space": func(r *rig) []byte {
			b := (&protocol.Keep{Alias: 1, Slot: 3}).Append(r.enter(foe+1, 1).Append(nil))
			return (&protocol.Return{Slot: 3, Entry: whole(property.Vector3{X: 2 * property.MaxCoordinate})}).Append(b)
		},
		"return, no such property": func(r *rig) []byte {
			b := (&protocol.Keep{Alias: 1, Slot: 3}).Append(r.enter(foe+1, 1).Append(nil))
			return (&protocol.Return{Slot: 3, Props: []byte{77}}).Append(b)
		},
		"changes, no such property": func(r *rig) []byte {
			return (&protocol.Changes{ID: foe, Props: []byte{77}}).Append(r.enter(foe, 1).Append(nil))
		},
		"own property of the base": func(r *rig) []byte {
			return appendOwn(nil, protocol.OwnPropertyID, gold, r.own)
		},
		"own property that clients do not see": func(r *rig) []byte {
			b, mark := protocol.Begin(nil, protocol.OwnPropertyID)
			return protocol.End(append(b, secretPair(r.schema.Type("Avatar"))...), mark)
		},
		"two own properties": func(r *rig) []byte {
			b, mark := protocol.Begin(nil, protocol.OwnPropertyID)
			return protocol.End(append(append(b, pair(mana, r.own)...), pair(health, r.own)...), mark)
		},
		"call, no such method": func(r *rig) []byte { return (&protocol.Call{ID: me, Method: 9}).Append(nil) },
		"call, bad arguments":  func(r *rig) []byte { return (&protocol.Call{ID: me, Args: []byte{9}}).Append(nil) },
		"reset with a body": func(r *rig) []byte {
			b, mark := protocol.Begin(nil, protocol.ResetID)
			return protocol.End(append(b, 1), mark)
		},
		"audit of more properties than clients see": func(r *rig) []byte {
			m := protocol.Audit{Own: r.expect(r.c.Player())}
			m.Own.Props = secretPair(r.c.Player().Def)
			return m.Append(nil)
		},
		"audit": func(r *rig) []byte {
			b, mark := protocol.Begin(nil, protocol.AuditID)
			return protocol.End(append(b, 1), mark)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.play()
			// What follows a malformed message is not applied.
			r.say(r.enter(foe+9, 1).Append(f(r)))
			r.wantMalformed()
			if r.c.Entity(foe+9) != nil {
				t.Error("went on reading")
			}
			r.say(f(r))
			if r.c.Stats().Malformed != 1 {
				t.Error("took messages after the end")
			}
		})
	}
	t.Run("positions", func(t *testing.T) {
		r := newRig(t)
		r.play()
		r.whisper([]byte{0, 1, 2})
		r.wantMalformed()
	})
	t.Run("before attached", func(t *testing.T) {
		r := newRig(t)
		r.attach()
		r.say(protocol.AppendReset(nil))
		r.wantMalformed()
	})
	t.Run("before base player", func(t *testing.T) {
		r := newRig(t)
		r.attach()
		r.say(r.cellPlayer().Append((&protocol.Attached{}).Append(nil)))
		r.wantMalformed()
	})
	t.Run("login reply nowhere", func(t *testing.T) {
		r := newRig(t)
		r.open()
		r.say((&protocol.LoginOK{}).Append(nil))
		r.wantMalformed()
	})
}

func TestHandlersMayEndTheSession(t *testing.T) {
	for _, end := range []func(*Client){(*Client).Close, (*Client).Logout} {
		r := newRig(t)
		r.play()
		r.c.cfg.Events.Entered = func(*Replica) { end(r.c) }
		r.c.cfg.Events.Moved = func(*Replica) { end(r.c) }
		r.say(r.enter(foe+1, 1).Append(r.enter(foe, 1).Append(r.cell(2))))
		if r.c.State() == Closed && r.c.Len() != 1 {
			t.Errorf("%d entities entered after the end", r.c.Len())
		}
		r.whisper(packet(2, 1, place(foe, 2), place(foe+1, 2)))
		if errors.Is(r.c.Err(), protocol.ErrMalformed) {
			t.Error(r.c.Err())
		}
	}
}

func (r *rig) expect(x *Replica, props ...int) protocol.Expected {
	e := protocol.Expected{Type: x.Def.ClientID}
	e.Place = protocol.Place{ID: x.ID, Position: x.Position, Direction: x.Direction}
	for _, i := range props {
		e.Props = appendValue(e.Props, i, x.Props)
	}
	return e
}

func TestAudit(t *testing.T) {
	wrong := property.NewValues(testSchema(t).Type("Avatar"), property.OtherClientSide, nil)
	_ = wrong.Load(health, property.Int(-1))
	owns := property.NewValues(testSchema(t).Type("Avatar"), property.OwnClientSide, nil)
	for _, x := range []struct {
		name string
		edit func(m *protocol.Audit)
		want []string // a part of each line
	}{
		{"converged", func(*protocol.Audit) {}, nil},
		{"own place", func(m *protocol.Audit) { m.Own.Position.X++; m.Own.Direction.X++ }, []string{"1.1 (Avatar) is at", "1.1 (Avatar) looks to"}},
		{"another player", func(m *protocol.Audit) { m.Own.ID++ }, []string{"the player's entity is 1.1"}},
		{"own property", func(m *protocol.Audit) { m.Own.Props = appendValue(nil, health, wrong) }, []string{"Avatar.health is 100, the server says -1"}},
		{"missing", func(m *protocol.Audit) {
			m.Entities = append(m.Entities, protocol.Expected{Place: protocol.Place{ID: 99}})
		}, []string{"0.99 (type 0) is missing"}},
		{"too many", func(m *protocol.Audit) { m.Entities = m.Entities[1:] }, []string{"1.7 (Avatar) should not be in sight"}},
		{"listed twice", func(m *protocol.Audit) { m.Entities[1] = m.Entities[0] }, []string{"1.7 is listed twice", "1.8 (Avatar) should not"}},
		{"place", func(m *protocol.Audit) { m.Entities[0].Position.Z = 0.25 }, []string{"1.7 (Avatar) is at {2 0 0}, the server says {2 0 0.25}"}},
		{"type", func(m *protocol.Audit) { m.Entities[1].Type = 1 }, []string{"1.8 is of type Avatar (0), the server says 1"}},
		{"value", func(m *protocol.Audit) { m.Entities[0].Props = appendValue(nil, health, wrong) }, []string{"1.7: Avatar.health is 100, the server says -1"}},
		{"not to be seen", func(m *protocol.Audit) {
			m.Entities[0].Props = appendValue(nil, mana, owns)
		}, []string{"1.7: Avatar.mana must not be visible to this client"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t)
			r.play()
			r.say(r.enter(foe+1, 3).Append(r.enter(foe, 2).Append(r.cell(2))))
			m := protocol.Audit{Own: r.expect(r.c.Player(), health, mana, gold)}
			for e := range r.c.Entities() {
				m.Entities = append(m.Entities, r.expect(e, health))
			}
			x.edit(&m)
			r.say(m.Append(r.cell(3)))
			if len(r.diff) != len(x.want) || r.c.Stats().Audits != 1 || r.c.Err() != nil {
				t.Fatalf("diff %q, error %v", r.diff, r.c.Err())
			}
			for i, want := range x.want {
				if !strings.Contains(r.diff[i], want) {
					t.Errorf("line %d is %q, want %q", i, r.diff[i], want)
				}
			}
		})
	}
}

func TestLimits(t *testing.T) {
	r := newRig(t)
	r.play()
	for i := range MaxSpaceData {
		r.say((&protocol.SpaceData{Key: uint16(i)}).Append(nil))
	}
	r.say((&protocol.SpaceData{Key: 3, Value: []byte("x")}).Append(nil))
	if r.c.Err() != nil {
		t.Fatal(r.c.Err())
	}
	r.say((&protocol.SpaceData{Key: MaxSpaceData}).Append(nil))
	r.wantMalformed()

	r = newRig(t)
	r.play()
	r.c.cfg.Events.Entered = nil
	for i := range MaxEntities {
		r.say((&protocol.Enter{ID: foe + entity.ID(i), Alias: uint32(i)}).Append(nil))
	}
	if r.c.Err() != nil || r.c.Len() != MaxEntities {
		t.Fatal(r.c.Err(), r.c.Len())
	}
	r.say((&protocol.Enter{ID: foe - 1, Alias: MaxEntities}).Append(nil))
	r.wantMalformed()
}

func FuzzMessage(f *testing.F) {
	r := newRig(f)
	r.play()
	enter := r.enter(foe, 2).Append(r.cell(2))
	f.Add(uint8(2), true, enter)
	f.Add(uint8(2), true, protocol.AppendLeave(enter, foe))
	f.Add(uint8(2), true, (&protocol.Return{Slot: 3, Alias: 9, Entry: whole(property.Vector3{X: 3}), Props: appendValue(nil, health, r.others)}).Append((&protocol.Keep{Slot: 3, Drop: []byte{3}}).Append(enter)))
	f.Add(uint8(2), true, (&protocol.Changes{ID: foe, Props: appendValue(nil, health, r.others)}).Append(enter))
	f.Add(uint8(2), true, place(foe, 3).AppendRest(enter))
	f.Add(uint8(2), true, (&protocol.Call{ID: me, Args: []byte{1, 'x'}}).Append(nil))
	f.Add(uint8(2), true, appendOwn(nil, protocol.OwnPropertyID, mana, r.own))
	short, _ := protocol.AppendOwnValue(nil, r.own, &property.Change{Index: mana})
	f.Add(uint8(2), true, short)
	f.Add(uint8(2), true, r.cellPlayer().Append(protocol.AppendReset(nil)))
	f.Add(uint8(2), true, (&protocol.Audit{Own: r.expect(r.c.Player(), health)}).Append(nil))
	f.Add(uint8(2), true, (&protocol.SpaceData{Key: 1, Value: []byte("v")}).Append(nil))
	f.Add(uint8(2), false, packet(1, 1, place(foe, 1)))
	f.Add(uint8(2), false, (&protocol.News{Body: appendValue(nil, health, r.others)}).Append(packet(1, 1)))
	f.Add(uint8(2), true, append([]byte{0xB0, 1, 7, 4}, make([]byte, 33)...)) // offers a download
	f.Add(uint8(2), true, []byte{0xB1, 1, 1, 0})                              // brings a byte of one
	f.Add(uint8(1), true, (&protocol.BasePlayer{ID: me, Props: []byte{0, 0, 0, 0}}).Append((&protocol.Attached{}).Append(nil)))
	f.Add(uint8(0), true, (&protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(2, 2)}}}).Append(nil))
	f.Add(uint8(0), true, (&protocol.Refused{Code: protocol.ServerBusy}).Append(nil))
	f.Add(uint8(0), true, (&protocol.Waiting{Position: 2, Of: 3}).Append(nil))
	f.Add(uint8(3), true, (&protocol.Resumed{From: protocol.Counts{2, 2}}).Append(nil))
	f.Add(uint8(4), true, protocol.AppendSettled(nil, 0))
	f.Add(uint8(4), true, (&protocol.Fallback{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(2, 2)}}}).Append(nil))
	f.Fuzz(func(t *testing.T, stage uint8, reliable bool, msg []byte) {
		r := newRig(t)
		resume := func() { r.playOn(); r.lose(); r.reopen() }
		[5]func(){r.open, r.attach, r.play, resume, r.playOn}[stage%5]()
		r.c.Message(r.now, r.c.ch, reliable, msg)
		s, closed := r.c.Stats(), r.c.State() == Closed
		if s.Malformed > 0 && (!closed || !errors.Is(r.c.Err(), protocol.ErrMalformed)) {
			t.Errorf("malformed, but state %v, error %v", r.c.State(), r.c.Err())
		}
		if closed != (r.c.Err() != nil) {
			t.Errorf("state %v, error %v", r.c.State(), r.c.Err())
		}
		// The client can go on, whatever came.
		r.c.Tick(r.now + DefaultTick)
		_ = r.c.SetPosition(property.Vector3{X: 3}, property.Vector3{})
		_ = fmt.Sprint(r.c.Len(), r.c.Player())
	})
}
