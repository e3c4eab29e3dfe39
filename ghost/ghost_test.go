package ghost

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

const (
	name  = iota // everyone sees it
	trade        // other cells see it, no client does
	gold         // for nobody else
	wares        // a list; other cells see it, no client does
	marks        // a list that everyone sees
)

func definition(t testing.TB) *property.Definition {
	return packedDefinition(t, property.Compression{})
}

func packedDefinition(t testing.TB, c property.Compression) *property.Definition {
	t.Helper()
	u32 := property.Scalar(property.KindUint32)
	list, err := property.NewArray(u32, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := property.NewSchema(
		&property.Definition{Name: "Rock", HasCell: true},
		&property.Definition{
			Name: "Walker", HasCell: true, HasClient: true, Compression: c,
			Properties: []*property.Property{
				{Name: "name", Type: u32, Flags: property.AllClients},
				{Name: "trade", Type: u32, Flags: property.CellPublic},
				{Name: "gold", Type: u32, Flags: property.CellPrivate},
				{Name: "wares", Type: list, Flags: property.CellPublic},
				{Name: "marks", Type: list, Flags: property.AllClients},
			},
			ClientMethods: []*property.Method{{Name: "say", Args: []property.Arg{{Type: u32}}}},
		})
	if err != nil {
		t.Fatal(err)
	}
	return s.Type("Walker")
}

// source is a real that says what its ghosts must hear.
type source struct {
	*presence.Entity
	sequence uint32
	updated  uint32
	changes  []Change
	pack     property.Compressor
}

func (s *source) PropertyChanged(c *property.Change) {
	if s.Def.Properties[c.Index].Flags&property.Ghosted == 0 {
		return
	}
	s.changes = append(s.changes, Change{
		Number: s.History.Record(s.Props, c), Index: uint16(c.Index), Payload: s.Props.AppendChange(nil, c),
	})
}

func (s *source) say(args ...byte) {
	s.changes = append(s.changes, Change{Number: s.History.Add(0, args), Event: true, Payload: args})
}

func (s *source) set(t testing.TB, i int, v uint64) {
	t.Helper()
	if err := s.Props.Set(i, property.Uint(v)); err != nil {
		t.Fatal(err)
	}
}

// fiddle changes a part of a list: if the change is made twice, or not at all, copies differ.
func (s *source) fiddle(t testing.TB, rng *rand.Rand, i int) {
	t.Helper()
	size := s.Props.Get(i).Len()
	var err error
	switch {
	case size > 8:
		err = s.Props.Splice(i, nil, 2, 7)
	case size > 0 && rng.IntN(2) == 0:
		err = s.Props.SetAt(i, []int{rng.IntN(size)}, property.Uint(rng.Uint64N(100)))
	default:
		at := rng.IntN(size + 1)
		err = s.Props.Splice(i, nil, at, at, property.Uint(rng.Uint64N(100)), property.Uint(1))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newSource(t testing.TB) *source { return newSourceOf(definition(t)) }

func newSourceOf(d *property.Definition) *source {
	s := &source{Entity: &presence.Entity{
		ID: 7, Def: d, Space: 1, Order: entity.Order{Incarnation: 1}, Base: app(9),
		Props: property.NewValues(d, property.CellSide, nil), History: property.NewHistory(d),
	}}
	s.Props.SetHolder(s)
	return s
}

func (s *source) head() Head {
	s.sequence++
	return Head{ID: s.ID, Order: s.Order, Sequence: s.sequence}
}

func (s *source) state() *State {
	return &State{
		Head: s.head(), Type: s.Def.ID, Space: s.Space, Base: s.Base, MoveStamp: s.MoveStamp,
		Position: s.Position, Direction: s.Direction,
		Props: s.pack.AppendStream(nil, s.Props, property.GhostStream, MaxProps), History: s.History.Append(nil),
	}
}

func (s *source) update() *Update {
	u := &Update{Head: s.head(), After: s.updated, MoveStamp: s.MoveStamp, Position: s.Position, Direction: s.Direction, Changes: s.changes}
	s.changes, s.updated = nil, u.Sequence
	return u
}

func (s *source) hop() {
	s.Order = s.Order.NextHop()
	s.sequence, s.updated, s.changes = 0, 0, nil
}

func sum(e *presence.Entity) uint64 {
	n, _ := Sum(e, nil)
	return n
}

func take(t *testing.T, g *Ghost, m any, want Verdict) {
	t.Helper()
	var got Verdict
	var err error
	switch m := m.(type) {
	case *State:
		got, err = g.TakeState(m, app(1), 5, nil)
	case *Update:
		got, err = g.TakeUpdate(m, 5)
	}
	if got != want || err != nil {
		t.Fatalf("verdict %d, error %v, want verdict %d", got, err, want)
	}
}

func TestGhostFollows(t *testing.T) {
	s := newSource(t)
	g := New(s.ID, s.Def)
	s.set(t, name, 5)
	s.changes = nil
	take(t, g, s.state(), Taken)
	if g.Real != app(1) || sum(g.Entity) != sum(s.Entity) {
		t.Fatal("the ghost is not as its State says")
	}
	s.set(t, name, 6)
	s.set(t, trade, 7) // not numbered, since no client sees it
	s.set(t, gold, 8)
	s.say(1, 2, 3, 4)
	s.MoveTo(3, property.Vector3{X: 4}, property.Vector3{})
	take(t, g, s.update(), Taken)
	if sum(g.Entity) != sum(s.Entity) {
		t.Error("the ghost does not follow")
	}
	if g.Entity.Props.Get(trade).Uint() != 7 || g.Entity.Props.Holds(gold) {
		t.Error("a ghost holds what is ghosted, and nothing else")
	}
	if g.Entity.MovedTick != 5 || g.Entity.History.Len() != 1 {
		t.Errorf("moved at %d, %d events", g.Entity.MovedTick, g.Entity.History.Len())
	}
}

func TestGhostOrder(t *testing.T) {
	s := newSource(t)
	g := New(s.ID, s.Def)
	take(t, g, s.update(), Early) // nothing is known yet
	first := s.state()
	take(t, g, first, Taken)
	take(t, g, first, Old)
	s.set(t, name, 1)
	second := s.update()
	take(t, g, second, Taken)
	take(t, g, second, Old)
	s.set(t, name, 2)
	lost := s.update()
	s.hop()
	s.set(t, name, 3)
	s.changes = nil
	state := s.state()
	s.set(t, name, 4)
	ahead := s.update()
	take(t, g, ahead, Early) // of a hop whose State has not come
	take(t, g, state, Taken)
	take(t, g, ahead, Taken)
	take(t, g, lost, Old) // of the old hop: the State contained it
	if sum(g.Entity) != sum(s.Entity) {
		t.Error("the ghost is not as its real after the hop")
	}
}

func TestGhostGapWaitsForState(t *testing.T) {
	s := newSource(t)
	g := New(s.ID, s.Def)
	take(t, g, s.state(), Taken)
	s.set(t, name, 1)
	s.update() // lost
	s.set(t, name, 2)
	second := s.update()
	take(t, g, second, Early)
	second.After = 0 // as if nothing had been between
	before := g.Entity.Props.Get(name)
	if _, err := g.TakeUpdate(second, 1); !errors.Is(err, property.ErrEventGap) {
		t.Errorf("a gap in the numbers is answered with %v", err)
	}
	if !property.Equal(g.Entity.Props.Get(name), before) {
		t.Error("a change after a gap was made")
	}
	s.hop()
	take(t, g, s.state(), Taken)
	if sum(g.Entity) != sum(s.Entity) {
		t.Error("the State of the next hop does not mend the gap")
	}
}

// Changes that no other client sees have no numbers; the next Update shows nevertheless that one
// was missed.
func TestMissedUpdateWithoutNumbers(t *testing.T) {
	s, rng := newSource(t), rand.New(rand.NewPCG(1, 1))
	g := New(s.ID, s.Def)
	take(t, g, s.state(), Taken)
	s.fiddle(t, rng, wares)
	take(t, g, s.update(), Taken)
	s.fiddle(t, rng, wares)
	s.update() // lost
	s.fiddle(t, rng, wares)
	take(t, g, s.update(), Early)
	take(t, g, s.state(), Taken)
	s.fiddle(t, rng, wares)
	take(t, g, s.update(), Taken)
	if sum(g.Entity) != sum(s.Entity) {
		t.Error("the ghost differs after a State")
	}
}

// The State of a new hop says what an up-to-date ghost knows already: what its watchers have not
// heard yet is not lost by it.
func TestStateKeepsHistory(t *testing.T) {
	s := newSource(t)
	g := New(s.ID, s.Def)
	take(t, g, s.state(), Taken)
	s.say(1, 0, 0, 0)
	s.fiddle(t, rand.New(rand.NewPCG(1, 1)), marks)
	take(t, g, s.update(), Taken)
	s.History.Trim(s.History.Last()) // nobody watches the real
	s.hop()
	take(t, g, s.state(), Taken)
	if _, ok := g.Entity.History.Parts(marks, 1, 99); !ok || g.Entity.History.Len() != 1 || g.Entity.History.Lost(0) {
		t.Error("a State took what the ghost's watchers still wait for")
	}
	s.hop()
	s.say(2, 0, 0, 0) // not told by an Update
	s.History.Trim(s.History.Last())
	take(t, g, s.state(), Taken)
	if g.Entity.History.Len() != 0 || !g.Entity.History.Lost(2) {
		t.Error("the ghost does not know that it lost an event")
	}
}

func TestGhostRefusesMalformed(t *testing.T) {
	s := newSource(t)
	g := New(s.ID, s.Def)
	good := s.state()
	for what, spoil := range map[string]func(*State){
		"type":              func(m *State) { m.Type++ },
		"short properties":  func(m *State) { m.Props = m.Props[1:] },
		"long properties":   func(m *State) { m.Props = append(m.Props[:len(m.Props):len(m.Props)], 0) },
		"empty history":     func(m *State) { m.History = nil },
		"trailing history":  func(m *State) { m.History = append(m.History[:len(m.History):len(m.History)], 0) },
		"truncated history": func(m *State) { m.History = m.History[:1] },
	} {
		m := *good
		spoil(&m)
		if _, err := g.TakeState(&m, app(1), 1, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	take(t, g, good, Taken) // nothing had changed
	for _, c := range []Change{
		{Number: 1, Index: 99},
		{Number: 1, Index: name, Payload: []byte{1}},
		{Number: 0, Index: name, Payload: make([]byte, 5)}, // must be numbered
		{Number: 1, Index: trade, Payload: make([]byte, 5)},
		{Number: 0, Index: gold, Payload: make([]byte, 5)},
		{Number: 0, Index: trade, Payload: make([]byte, 6)},
		{Number: 0, Index: wares, Payload: []byte{2, 1, 0, 0}},
		{Number: 1, Index: 99, Event: true},
	} {
		if _, err := g.TakeUpdate(&Update{Head: s.head(), Changes: []Change{c}}, 1); err == nil {
			t.Errorf("change %+v was taken", c)
		}
	}
}

func TestFromReal(t *testing.T) {
	s := newSource(t)
	s.set(t, name, 5)
	before := sum(s.Entity)
	g, err := FromReal(s.Entity, s.Order.NextHop(), app(2))
	if err != nil {
		t.Fatal(err)
	}
	if g.Entity != s.Entity || g.Real != app(2) || g.Entity.Props.Holds(gold) || sum(g.Entity) != before {
		t.Error("the ghost that is left is not the record turned into a ghost")
	}
	if g.Head() != (Head{ID: 7, Order: entity.Order{Incarnation: 1, Hop: 1}}) {
		t.Errorf("position %+v", g.Head())
	}
	take(t, g, &Update{Head: Head{ID: 7, Order: entity.Order{Incarnation: 1}, Sequence: 9}}, Old)
	take(t, g, &Update{Head: Head{ID: 7, Order: g.Entity.Order, Sequence: 2}}, Early)
}

func TestStateEndsOrphanhood(t *testing.T) {
	s := newSource(t)
	g := New(s.ID, s.Def)
	take(t, g, s.state(), Taken)
	g.OrphanedUntil = time.Second
	s.Order = entity.Order{Incarnation: 2}
	take(t, g, s.state(), Taken)
	if g.OrphanedUntil != 0 {
		t.Error("a ghost with a living real is still an orphan")
	}
}

// TestGhostTwin lets a real act and hop at random, over a network that keeps only the order of each
// hop's app. Whatever is heard, the State of the last hop ends in equal copies.
func TestGhostTwin(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := newSource(t)
		g := New(s.ID, s.Def)
		queues := [][]any{{s.state()}}
		for range 200 {
			last := len(queues) - 1
			switch rng.IntN(8) {
			case 0:
				s.hop()
				queues = append(queues, []any{s.state()})
			case 1, 2:
				if rng.IntN(2) == 0 {
					s.fiddle(t, rng, wares+rng.IntN(2))
					continue
				}
				s.set(t, rng.IntN(3), rng.Uint64N(4))
			case 3:
				s.say(byte(rng.IntN(9)), 0, 0, 0)
			case 4:
				s.MoveTo(1, property.Vector3{X: float32(rng.IntN(9))}, property.Vector3{})
			default:
				queues[last] = append(queues[last], s.update())
			}
			deliver(t, seed, g, queues, rng.IntN(len(queues)))
		}
		queues[len(queues)-1] = append(queues[len(queues)-1], s.update())
		for i := len(queues) - 1; i >= 0; i-- {
			for len(queues[i]) > 0 {
				deliver(t, seed, g, queues, i)
			}
		}
		if sum(g.Entity) != sum(s.Entity) {
			t.Fatalf("seed %d: the ghost differs from its real", seed)
		}
	}
}

func deliver(t *testing.T, seed uint64, g *Ghost, queues [][]any, i int) {
	t.Helper()
	if len(queues[i]) == 0 {
		return
	}
	before := g.Head()
	var err error
	switch m := queues[i][0].(type) {
	case *State:
		_, err = g.TakeState(m, app(1), 1, nil)
	case *Update:
		_, err = g.TakeUpdate(m, 1)
	}
	queues[i] = queues[i][1:]
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	after := g.Head()
	if c := after.Order.Compare(before.Order); c < 0 || c == 0 && after.Sequence < before.Sequence {
		t.Fatalf("seed %d: the ghost went back from %+v to %+v", seed, before, after)
	}
}
