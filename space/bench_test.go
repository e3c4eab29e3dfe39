package space

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// benchOutbox encodes what is sent, as a CellApp does, and acknowledges what goes to bases.
type benchOutbox struct {
	buf   []byte
	acks  []flow.Ack
	bytes int
	seen  map[entity.ID]*protocol.Seen // what each client has had
	all   *[]byte                      // of everything that was sent, if it is kept
}

func (o *benchOutbox) Send(_ mercury.Address, m hosting.Message) {
	o.buf = m.Append(o.buf[:0])
	o.bytes += len(o.buf)
	o.keep(o.buf)
	if f, ok := m.(*flow.Message); ok && f.ToPart == entity.BasePart {
		o.acks = append(o.acks, flow.Ack{To: f.From, ToPart: entity.CellPart, From: f.To, FromPart: entity.BasePart, Incarnation: f.Incarnation, Number: f.Number, Settled: f.Number})
	}
}

func (o *benchOutbox) SendWhole(to mercury.Address, m hosting.Message) error {
	o.Send(to, m)
	return nil
}

func (o *benchOutbox) keep(b []byte) {
	if o.all != nil {
		*o.all = append(*o.all, b...)
	}
}

func (o *benchOutbox) PassOn(_ hosting.Way, m hosting.Message) { o.Send(mercury.Address{}, m) }
func (o *benchOutbox) Level(mercury.Address) mercury.Level     { return mercury.Free }
func (o *benchOutbox) ClientPacket(_ mercury.Address, id entity.ID, _ entity.Order, _ uint32, p []byte) error {
	o.bytes += len(p)
	o.keep(p)
	after, n := binary.Uvarint(p)
	packet, _ := binary.Uvarint(p[n:])
	s := o.seen[id]
	if s == nil {
		s = new(protocol.Seen)
		o.seen[id] = s
	}
	*s = protocol.Seen{Bundle: after, Packet: uint32(packet), Earlier: 1<<32 - 1}
	return nil
}
func (o *benchOutbox) ClientRoom(mercury.Address) int                  { return 900 }
func (o *benchOutbox) SetSpaceData(entity.SpaceID, entity.SpaceDatum)  {}
func (o *benchOutbox) DestroySpace(entity.SpaceID)                     {}
func (o *benchOutbox) NewID() (entity.ID, error)                       { return 0, nil }
func (o *benchOutbox) Dead(mercury.Address) bool                       { return false }
func (o *benchOutbox) Home(entity.ID) (app mercury.Address, base bool) { return }
func (o *benchOutbox) Whereis(near, asker entity.ID) bool              { return false }
func (o *benchOutbox) LocateArea(uint64, entity.SpaceID, bsp.Rect)     {}

func (o *benchOutbox) Locate(entity.ID, entity.SpaceID, property.Vector3) {}

// crowd makes a cell with reals within 200 m of a line, so that each has a ghost, of which players
// have clients and see everyone. A tick moves the players; one in ten changes a property that all
// see. watch may be nil.
func crowd(t testing.TB, reals, players entity.ID, watch *load.Stopwatch) (tick func(), out *benchOutbox) {
	t.Helper()
	return throng{side: 200, line: 200, reals: reals, players: players, watch: watch}.begin(t)
}

// throng is a crowd on a square with a side, in metres, and a line at an X. The budget is how many bytes
// each client is sent in a tick, the radius how far each sees; 0 for the defaults.
type throng struct {
	side, line     float32
	reals, players entity.ID
	budget         int
	radius         float32
	watch          *load.Stopwatch
	schema         *property.Schema
	stats          *property.Stats
	workers        int
	parallel       func(n int, f func(worker, i int))
	walk           bool // as in examples/crowd: 5 m/s by random waypoint, and a change of a property every five seconds
	cell           **Cell
	forced         bool // the server moves the players, and tells each its place reliably in each tick
}

// anywhere is a place in a square from the origin on.
func anywhere(chance *rand.Rand, side float32) property.Vector3 {
	return property.Vector3{X: side * chance.Float32(), Z: side * chance.Float32()}
}

// populate creates avatars at places that at gives. The first of them are players.
func populate(p *Population, reals, players entity.ID, at func() property.Vector3) {
	d := p.scripts.Schema().Type("Avatar")
	for id := entity.ID(1); id <= reals; id++ {
		m := migrate.Create{ID: id, Type: d.ID, Space: 1, Order: entity.Order{Incarnation: 1}, Base: addr(100),
			Parts: migrate.AppendFirst(nil, at(), property.Vector3{}, property.NewValues(d, property.CellSide, nil), nil)}
		if id <= players {
			m.Session = flow.Session{Number: 1, Room: 920}
		}
		p.Create(&m, addr(100))
	}
}

func (o throng) begin(t testing.TB) (tick func(), out *benchOutbox) {
	t.Helper()
	side, reals, players := o.side, o.reals, o.players
	if o.schema == nil {
		o.schema = testSchema(t)
	}
	scripts := NewScripts(o.schema)
	Register[Avatar](scripts, "Avatar")
	if err := scripts.Err(); err != nil {
		t.Fatal(err)
	}
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1))
	if err := tree.Split(cellID(1), bsp.AxisX, float64(o.line), leaf(2), true); err != nil {
		t.Fatal(err)
	}
	out = &benchOutbox{seen: make(map[entity.ID]*protocol.Seen)}
	var count status.Counters
	// Backups have a cost of their own.
	cfg := Config{BackupPeriod: time.Hour, AoIRadius: o.radius, Witness: witness.Config{BytesPerTick: o.budget}}.WithDefaults()
	population := NewPopulation(cfg, scripts, hosting.Env{
		Self: addr(1), Out: out, Counters: &count,
		Chance: rand.New(rand.NewPCG(1, 1)), Log: slog.New(slog.DiscardHandler), Watch: o.watch, Stats: o.stats, Parallel: o.parallel, Workers: o.workers,
	})
	c := population.NewCell(0, 0, 1, cellID(1), tree, nil)
	if o.cell != nil {
		*o.cell = c.Cell
	}
	chance := rand.New(rand.NewPCG(2, 2))
	at := func() property.Vector3 { return anywhere(chance, side) }
	populate(population, reals, players, at)
	var now time.Duration
	wear, to := 10, make([]property.Vector3, players+1)
	if o.walk {
		wear = 50
		for id := range to {
			to[id] = at()
		}
	}
	next := func(id entity.ID, p property.Vector3) property.Vector3 {
		if !o.walk {
			p.X = min(max(p.X+chance.Float32()-0.5, 0), side-1)
			p.Z += chance.Float32() - 0.5
			return p
		}
		for property.Distance(p, to[id]) < 0.5 {
			to[id] = at()
		}
		share := 0.5 / property.Distance(p, to[id])
		p.X += share * (to[id].X - p.X)
		p.Z += share * (to[id].Z - p.Z)
		return p
	}
	tick = func() {
		now += tickPeriod
		for id := entity.ID(1); id <= players; id++ {
			r := population.find(id).real
			if s := out.seen[id]; s != nil {
				r.witness.Saw(s)
			}
			p := next(id, r.Position())
			move := r.put // as its client says
			if o.forced {
				move = func(p, _ property.Vector3) error { return r.SetPosition(p) }
			}
			if err := move(p, r.Direction()); err != nil {
				t.Fatal(err)
			}
			if chance.IntN(wear) == 0 {
				a := r.script.Interface().(*Avatar)
				a.Hp.Set(a.Hp.Get() + 1)
			}
		}
		for i := range out.acks {
			population.HandleAck(&out.acks[i], addr(100))
		}
		out.acks = out.acks[:0]
		c.runTick(now, now, tickPeriod)
	}
	for range 100 {
		tick()
	}
	if c.Reals() != int(reals) || count.Errors > 0 || count.Refused > 0 {
		t.Fatalf("%d reals, %+v", c.Reals(), count)
	}
	out.bytes = 0
	return tick, out
}

// BenchmarkCellTick is a tick of a cell with 250 reals, 150 of them players in a crowd.
func BenchmarkCellTick(b *testing.B) {
	tick, out := crowd(b, 250, 150, nil)
	b.ReportAllocs()
	for b.Loop() {
		tick()
	}
	b.ReportMetric(float64(out.bytes)/float64(b.N), "bytes-sent/tick")
}

// BenchmarkCellPlayers is a tick of a cell with players each of whom sees 62 others; ns/client-tick is
// what each costs.
func BenchmarkCellPlayers(b *testing.B) {
	for _, n := range []entity.ID{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			side := float32(200 * math.Sqrt(float64(n)/70)) // 62 as a mean, with the edges
			tick, _ := throng{side: side, line: 1e5, reals: n, players: n, radius: 100}.begin(b)
			for b.Loop() {
				tick()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/client-tick")
		})
	}
}

// BenchmarkPackedCell is a tick of a cell with 2,000 players on 300 by 300 m who all move and see
// all others, each sent 20 kbit/s.
func BenchmarkPackedCell(b *testing.B) {
	tick, out := throng{side: 300, line: 5000, reals: 2000, players: 2000, budget: 250}.begin(b)
	b.ReportAllocs()
	for b.Loop() {
		tick()
	}
	b.ReportMetric(float64(out.bytes)/float64(b.N)/2000, "bytes-sent/client-tick")
}

// BenchmarkWalkingCrowd is a tick of a cell with 2,000 players who walk on 300 by 300 m, see 100 m
// far, and are sent 20 kbit/s each (row E7 of the design).
func BenchmarkWalkingCrowd(b *testing.B) {
	tick, out := throng{side: 300, line: 5000, reals: 2000, players: 2000, budget: 250, radius: 100, walk: true}.begin(b)
	b.ReportAllocs()
	for b.Loop() {
		tick()
	}
	b.ReportMetric(float64(out.bytes)/float64(b.N)/2000, "bytes-sent/client-tick")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/2000, "us/client-tick")
}

// BenchmarkIdleFlows is what 2,000 reals do for their flows in a tick, each with eight others that
// it has spoken with within the last minute.
func BenchmarkIdleFlows(b *testing.B) {
	const players, others = 2000, 8
	var c *Cell
	throng{side: 4000, line: 5000, reals: players, players: players, radius: 10, cell: &c}.begin(b)
	for _, rec := range c.reals {
		for n := range entity.ID(others) {
			if _, err := rec.real.peer((rec.e.ID+100*n)%players+1, entity.CellPart); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		c.settleFlows()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/players, "ns/client-tick")
}

// A tick in which nobody comes or goes uses its memory again.
func TestCellTickDoesNotAllocate(t *testing.T) {
	begun := time.Now()
	for name, watch := range map[string]*load.Stopwatch{
		"without a clock": nil, "with a clock": load.NewStopwatch(func() time.Duration { return time.Since(begun) }),
	} {
		for _, budget := range []int{0, 100} { // room for all, and for few
			tick, _ := throng{side: 200, line: 200, reals: 40, players: 20, budget: budget, watch: watch}.begin(t)
			if n := testing.AllocsPerRun(50, tick); n > 0 {
				t.Errorf("%s, budget %d: %v allocations a tick", name, budget, n)
			}
		}
	}
}
