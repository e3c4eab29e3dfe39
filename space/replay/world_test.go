package replay_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/recording"
	"github.com/cellscape/cellscape/space/recording/keep"
	"github.com/cellscape/cellscape/space/replay"
	"github.com/cellscape/cellscape/space/spacetest"
)

// The game of these tests: walkers that go from place to place, count their steps, carry a list, and say
// a number that rises. Their bases have a rank, which only recordings show.

const walkerDef = `
<root>
	<Volatile> <position/> <yaw/> </Volatile>
	<Properties>
		<steps>  <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> </steps>
		<bag>    <Type> ARRAY <of> INT32 </of> </Type> <Flags> OTHER_CLIENTS </Flags> </bag>
		<plan>   <Type> STRING </Type> <Flags> CELL_PRIVATE </Flags> <ExposedForReplay> true </ExposedForReplay> </plan>
		<secret> <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <ExposedForReplay> false </ExposedForReplay> </secret>
		<rank>   <Type> INT32 </Type> <Flags> BASE </Flags> <ExposedForReplay> true </ExposedForReplay> </rank>
	</Properties>
	<ClientMethods>
		<say>     <Arg> INT32 </Arg> </say>
		<mumble>  <ReplayExposureLevel> NONE </ReplayExposureLevel> </mumble>
	</ClientMethods>
</root>`

const side = 150

type walkerBase struct {
	*entity.Base
	Rank property.Int32
}

func (b *walkerBase) OnCreated() {
	at := float32(b.ID()%7)*40 - 120
	if err := b.CreateCell(1, property.Vector3{X: at, Z: -at}, property.Vector3{}, nil); err != nil {
		panic(err)
	}
	if _, err := b.AddTimer(time.Second, 3*time.Second, "OnRank", 0); err != nil {
		panic(err)
	}
}

func (b *walkerBase) OnRank(entity.Callback) { b.Rank.Set(b.Rank.Get() + 1) }

type walker struct {
	*space.Real
	Steps, Secret property.Int32
	Bag           property.Slice[int32]
	Plan          property.String
}

// changeMounts boards whoever walks near by, or alights.
func (w *walker) changeMounts() {
	if w.Vehicle() != 0 {
		w.Alight()
		w.OnArrived(entity.Callback{})
		return
	}
	for v := range w.EntitiesInRange(30) {
		if v.Vehicle() == 0 && w.Board(v.ID(), theSeat, property.Vector3{}) == nil {
			return
		}
	}
}

func (w *walker) OnAlighted(entity.ID) { w.OnArrived(entity.Callback{}) }

func (w *walker) OnCreated() {
	w.OnArrived(entity.Callback{})
	if _, err := w.AddTimer(700*time.Millisecond, 700*time.Millisecond, "OnStep", 0); err != nil {
		panic(err)
	}
}

func (w *walker) OnArrived(entity.Callback) {
	at := func() float32 { return (w.Chance().Float32()*2 - 1) * side }
	to := property.Vector3{X: at(), Z: at()}
	w.Plan.Set(fmt.Sprint("to ", to))
	_, _ = w.MoveTo(to, 12, "OnArrived", 0)
}

func (w *walker) OnStep(entity.Callback) {
	n := w.Steps.Get() + 1
	w.Steps.Set(n)
	w.Secret.Set(n)
	if n%9 == 0 {
		w.Bag.Set(nil)
	}
	if when := (n + int32(w.ID())) % 23; when == 7 && w.Vehicle() == 0 || when == 17 && w.Vehicle() != 0 {
		w.changeMounts()
	}
	_ = w.Bag.Append(n)
	_ = w.Bag.SetAt(0, n)
	_ = w.AllClients().Call("say", n)
	_ = w.AllClients().Call("mumble")
}

func walkers(t testing.TB, many int, sink recording.Sink) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root><Walker hasCell="true" hasBase="true" hasClient="true"/></root>`)},
		"entity_defs/Walker.def": {Data: []byte(walkerDef)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[walker](cells, "Walker")
	baseapp.Register[walkerBase](bases, "Walker")
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, CellApps: 4, BaseApps: 2, Recorder: sink,
		BaseStart: func(s *baseapp.Starter) {
			for range many / 2 {
				if _, err := s.CreateBase("Walker", nil); err != nil {
					panic(err)
				}
			}
		},
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -side, MinZ: -side, MaxX: side, MaxZ: side}, MinCells: 4}},
	}
}

// held is what a cell held of an entity.
type held struct {
	order               entity.Order
	position, direction property.Vector3
	vehicle             entity.ID
	values              map[string]property.Value
}

// sample is what all cells held at a moment.
type sample struct {
	game time.Duration
	all  map[entity.ID]held
	// riders is how many were shown on vehicles.
	riders int
}

// seated is where one who is shown on a vehicle is to be, by where the real of the vehicle was: its own cell may
// have had it by a ghost, which is a tick or two behind.
func (s *sample) seated(p *replay.Player, r *client.Replica, depth int) (at presence.Spot, ok bool) {
	v, h := p.Client().Entity(r.Vehicle()), s.all[r.Vehicle()]
	if v == nil || h.values == nil || depth > presence.MaxStack {
		return at, false
	}
	under := presence.Spot{Position: h.position, Direction: h.direction}
	if v.Vehicle() != 0 {
		if under, ok = s.seated(p, v, depth+1); !ok {
			return at, false
		}
	}
	return presence.Spot{Position: theSeat}.On(under), true
}

// theSeat is where walkers sit.
var theSeat = property.Vector3{X: 1, Y: 2}

var recordedNames = []string{"steps", "bag", "plan"}

// settled returns the game time of the cells at a moment that is not near the ticks of any: their clocks
// differ by milliseconds, and the recording has the time of each.
func settled(w *spacetest.World) time.Duration {
	for {
		games := make(map[*spacetest.App]time.Duration)
		for app, v := range w.Views() { // the time of who has just come may be ahead of the cell's
			if at, there := games[app]; !there || v.Now() < at {
				games[app] = v.Now()
			}
		}
		first, last := time.Duration(math.MaxInt64), time.Duration(0)
		for _, at := range games {
			first, last = min(first, at), max(last, at)
		}
		if last-first < 80*time.Millisecond {
			return last
		}
		w.Run(7 * time.Millisecond)
	}
}

func take(w *spacetest.World) (s sample) {
	s.game, s.all = settled(w), make(map[entity.ID]held)
	for _, v := range w.Reals() {
		h := held{order: v.Order(), position: v.Position(), direction: v.Direction(), vehicle: v.Vehicle(), values: make(map[string]property.Value)}
		for _, name := range recordedNames {
			h.values[name], _ = v.Get(name)
		}
		s.all[v.ID()] = h
	}
	return s
}

// differs compares what a player shows with a sample. It returns how many entities are shown that the
// sample lacks.
func (s *sample) differs(t *testing.T, p *replay.Player, what string) (more int) {
	t.Helper()
	for r := range p.Client().Entities() {
		h, there := s.all[r.ID]
		if !there {
			more++
			continue
		}
		off := recording.Resolution/2 + 1e-4
		if on := r.Vehicle(); on != 0 {
			if on != h.vehicle {
				t.Fatalf("%s, at %v: %v rides on %v, and was on %v", what, s.game, r.ID, on, h.vehicle)
			}
			s.riders++
			off *= 3
			at, ok := s.seated(p, r, 0)
			if !ok {
				continue // with a vehicle that was on its way
			}
			h.position = at.Position
		}
		for _, d := range []float32{h.position.X - r.Position.X, h.position.Y - r.Position.Y, h.position.Z - r.Position.Z} {
			if math.Abs(float64(d)) > off {
				t.Fatalf("%s, at %v: %v is at %v, and was at %v", what, s.game, r.ID, r.Position, h.position)
			}
		}
		for _, name := range recordedNames {
			if got := r.Props.Get(r.Def.Property(name).Index); !property.Equal(got, h.values[name]) {
				t.Fatalf("%s, at %v: %s of %v (%v) is %v, and was %v", what, s.game, name, r.ID, h.order, got, h.values[name])
			}
		}
		if got := r.Props.Get(r.Def.Property("secret").Index); got.Int() != 0 {
			t.Fatalf("the recording has what is not exposed: %v", got)
		}
	}
	for id := range s.all {
		if p.Client().Entity(id) == nil {
			t.Fatalf("%s, at %v: %v is not shown", what, s.game, id)
		}
	}
	return more
}

// seen is the script of a client for walkers, which plays a recording, too.
type seen struct {
	*client.Replica
	Steps property.Int32
	heard int32  `cellscape:"local"`
	game  *audit `cellscape:"local"`
}

type audit struct{ said, repeats, gaps, steps, entered, left int }

func (s *seen) Say(n int32) {
	switch {
	case s.heard == 0 || n == s.heard+1:
		s.game.said++
	case n <= s.heard:
		s.game.repeats++ // of what a death undid
	default:
		s.game.gaps++
	}
	s.heard = n
}
func (s *seen) Mumble()                     { s.game.gaps += 1000 }
func (s *seen) OnSetSteps(*property.Change) { s.game.steps++ }
func (s *seen) OnEntered()                  { s.game.entered++ }
func (s *seen) OnLeft()                     { s.game.left++ }

func viewer(t testing.TB, schema *property.Schema, a *audit) replay.Config {
	t.Helper()
	scripts := client.NewScripts(schema)
	client.Register(scripts, "Walker", func() *seen { return &seen{game: a} })
	return replay.Config{Schema: schema, Scripts: scripts}
}

// A crowd walks over the lines between four cells, one of whose CellApps dies. What is played back is
// what the cells held, at each moment, forwards and after seeks.
func TestCrowdIsPlayedAsItWas(t *testing.T) {
	for seed := uint64(1); seed <= 8; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { crowd(t, seed) })
	}
}

func crowd(t *testing.T, seed uint64) {
	const many = 60
	riders := 0
	memory := new(keep.Memory)
	cfg := walkers(t, many, memory)
	w := spacetest.Start(t, spacetest.Config{World: cfg, Seed: seed})
	w.Until(time.Minute, func() bool { return len(take(w).all) == many })
	begin(w)
	w.Run(2 * time.Second)
	var samples []sample
	watch := func(d time.Duration) {
		for range d / (430 * time.Millisecond) {
			w.Run(430 * time.Millisecond)
			samples = append(samples, take(w))
		}
	}
	watch(25 * time.Second)
	migrations := hops(samples)
	w.CellApps()[seed%4].Kill()
	w.AddCellApp()
	watch(35 * time.Second)
	end(w)
	w.Run(time.Second)
	if migrations < 10 {
		t.Fatalf("only %d hops: nobody went over a line", migrations)
	}

	logs, err := memory.Logs()
	if err != nil {
		t.Fatal(err)
	}
	a := new(audit)
	p, err := replay.New(viewer(t, cfg.CellScripts.Schema(), a), logs...)
	if err != nil {
		t.Fatal(err)
	}
	play(t, p, samples, many)
	t.Logf("%d logs, %d hops before the death; %+v, %+v", len(logs), migrations, *a, p.Stats())
	if a.gaps > 0 || a.said < many*40 || a.entered != many || a.left > 0 || a.steps < a.said {
		t.Errorf("what scripts heard: %+v", *a)
	}
	r := rand.New(rand.NewPCG(seed, 7))
	for range 25 {
		s := samples[r.IntN(len(samples))]
		if err := p.Seek(s.game); err != nil {
			t.Fatal(err)
		}
		s.differs(t, p, "after a seek")
	}
	for _, s := range samples {
		riders += s.riders
	}
	if riders < many {
		t.Errorf("only %d riders were shown", riders)
	}
	t.Logf("%d riders were shown", riders)
}

// play plays samples from first to last.
func play(t *testing.T, p *replay.Player, samples []sample, many int) {
	t.Helper()
	inFlight := 0
	for i := range samples {
		s := &samples[i]
		if err := p.Advance(s.game); err != nil {
			t.Fatal(err)
		}
		inFlight += s.differs(t, p, "forwards")
	}
	last := samples[len(samples)-1]
	if n := p.Client().Len(); n != many || len(last.all) != many {
		t.Errorf("at the end %d entities are shown, and there were %d of %d", n, len(last.all), many)
	}
	ranks := 0
	for r := range p.Client().Entities() {
		if r.Props.Get(r.Def.Property("rank").Index).Int() > 10 {
			ranks++
		}
	}
	if ranks != many {
		t.Errorf("%d of %d have the rank of their base", ranks, many)
	}
	t.Logf("%d times somebody was shown who was on the way, or lost", inFlight)
}

// hops counts how often entities went over a line.
func hops(samples []sample) (n int) {
	for _, h := range samples[len(samples)-1].all {
		n += int(h.order.Hop)
	}
	return n
}

// begin has a script begin the recording, and end has one end it.
func begin(w *spacetest.World) {
	for x := range spacetest.CellScripts[walker](w) {
		if err := x.SetSpaceData(recording.Key, []byte("crowd")); err != nil {
			panic(err)
		}
		return
	}
}

func end(w *spacetest.World) {
	for x := range spacetest.CellScripts[walker](w) {
		if err := x.RemoveSpaceData(recording.Key, 0); err != nil {
			panic(err)
		}
		return
	}
}

// A BaseApp dies. Its bases go back to their copies, and so does what they expose for replay.
func TestRanksOutliveABaseApp(t *testing.T) {
	const many = 20
	memory := new(keep.Memory)
	cfg := walkers(t, many, memory)
	w := spacetest.Start(t, spacetest.Config{World: cfg, Seed: 3})
	w.Until(time.Minute, func() bool { return len(take(w).all) == many })
	begin(w)
	w.Run(17 * time.Second)
	before := ranks(w)
	w.BaseApps()[0].Kill()
	w.Run(time.Second)
	w.Until(time.Minute, func() bool { return len(ranks(w)) == many })
	w.Run(300 * time.Millisecond)
	after, older, at := ranks(w), 0, settled(w)
	for id, rank := range before {
		if after[id] < rank {
			older++
		}
	}
	if len(before) != many || older == 0 {
		t.Fatalf("%d bases, of which %d went back", len(before), older)
	}
	end(w)
	w.Run(time.Second)
	logs, err := memory.Logs()
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.New(viewer(t, cfg.CellScripts.Schema(), new(audit)), logs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Advance(at); err != nil {
		t.Fatal(err)
	}
	for r := range p.Client().Entities() {
		// The newest may be on its way.
		if got := r.Props.Get(r.Def.Property("rank").Index).Int(); got != int64(after[r.ID]) && got != int64(after[r.ID])-1 {
			t.Errorf("%v has rank %d, and is shown with %d", r.ID, after[r.ID], got)
		}
	}
}

func ranks(w *spacetest.World) map[entity.ID]int32 {
	all := make(map[entity.ID]int32)
	for b := range spacetest.BaseScripts[walkerBase](w) {
		all[b.ID()] = b.Rank.Get()
	}
	return all
}

// A teleport out of the space deletes who goes, and back brings it in again; one within the space does
// neither, wherever it leads.
func TestTeleports(t *testing.T) {
	const many = 12
	memory := new(keep.Memory)
	cfg := walkers(t, many, memory)
	cfg.Spaces = append(cfg.Spaces, cellappmgr.SpaceConfig{ID: 2, Bounds: cfg.Spaces[0].Bounds})
	w := spacetest.Start(t, spacetest.Config{World: cfg, Seed: 5})
	w.Until(time.Minute, func() bool { return len(take(w).all) == many })
	begin(w)
	w.Run(2 * time.Second)
	var id entity.ID
	teleport := func(to entity.Destination) {
		for x := range spacetest.CellScripts[walker](w) {
			if id == 0 || x.ID() == id {
				id = x.ID()
				if err := x.Teleport(to, 0); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		w.Run(3 * time.Second)
	}
	for _, at := range []float32{-120, 120, -120} {
		teleport(entity.Destination{Space: 1, Position: property.Vector3{X: at, Z: at}})
	}
	v, _, _ := w.Real(id)
	gone := v.Now()
	teleport(entity.Destination{Space: 2})
	teleport(entity.Destination{Space: 1})
	end(w)
	w.Run(time.Second)
	logs, err := memory.Logs()
	if err != nil {
		t.Fatal(err)
	}
	a := new(audit)
	p, err := replay.New(viewer(t, cfg.CellScripts.Schema(), a), logs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		at                 time.Duration
		len, entered, left int
	}{{gone, many, many, 0}, {gone + 2*time.Second, many - 1, many, 1}, {gone + 5*time.Second, many, many + 1, 1}} {
		if err := p.Advance(step.at); err != nil {
			t.Fatal(err)
		}
		if n := p.Client().Len(); n != step.len || a.entered != step.entered || a.left != step.left {
			t.Errorf("at %v: %d are shown, %+v; want %+v", step.at-gone, n, *a, step)
		}
	}
}
