package space

import (
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
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
}

func (o *benchOutbox) Send(_ mercury.Address, m hosting.Message) {
	o.buf = m.Append(o.buf[:0])
	o.bytes += len(o.buf)
	if f, ok := m.(*flow.Message); ok && f.ToPart == entity.BasePart {
		o.acks = append(o.acks, flow.Ack{To: f.From, ToPart: entity.CellPart, From: f.To, FromPart: entity.BasePart, Incarnation: f.Incarnation, Number: f.Number})
	}
}

func (o *benchOutbox) Level(mercury.Address) mercury.Level { return mercury.Free }
func (o *benchOutbox) ClientPacket(_ mercury.Address, _ entity.ID, _ entity.Order, _ uint32, p []byte) error {
	o.bytes += len(p)
	return nil
}
func (o *benchOutbox) ClientRoom(mercury.Address) int              { return 900 }
func (o *benchOutbox) SetSpaceData(entity.SpaceID, uint16, []byte) {}
func (o *benchOutbox) DestroySpace(entity.SpaceID)                 {}
func (o *benchOutbox) NewID() (entity.ID, error)                   { return 0, nil }
func (o *benchOutbox) Dead(mercury.Address) bool                   { return false }

// crowd makes a cell with reals within 200 m of a line, so that each has a ghost, of which players
// have clients and see everyone. A tick moves the players; one in ten changes a property that all
// see. watch may be nil.
func crowd(t testing.TB, reals, players entity.ID, watch *load.Stopwatch) (tick func(), out *benchOutbox) {
	t.Helper()
	return crowdOn(t, 200, 200, reals, players, 0, watch)
}

// crowdOn makes a crowd on a square with a side, in metres, and a line at X. Each client is sent a
// budget of bytes in a tick, 0 for the default.
func crowdOn(t testing.TB, side, line float32, reals, players entity.ID, budget int, watch *load.Stopwatch) (tick func(), out *benchOutbox) {
	t.Helper()
	scripts := NewScripts(testSchema(t))
	Register[Avatar](scripts, "Avatar")
	if err := scripts.Err(); err != nil {
		t.Fatal(err)
	}
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1))
	if err := tree.Split(cellID(1), bsp.AxisX, float64(line), leaf(2), true); err != nil {
		t.Fatal(err)
	}
	out = &benchOutbox{}
	var count status.Counters
	// Backups have a cost of their own.
	cfg := Config{BackupPeriod: time.Hour, Witness: witness.Config{BytesPerTick: budget}}.WithDefaults()
	population := NewPopulation(cfg, scripts, hosting.Env{
		Self: addr(1), Out: out, Counters: &count,
		Chance: rand.New(rand.NewPCG(1, 1)), Log: slog.New(slog.DiscardHandler), Watch: watch,
	})
	c := population.NewCell(0, 0, 1, cellID(1), tree, nil)
	d := scripts.Schema().Type("Avatar")
	chance := rand.New(rand.NewPCG(2, 2))
	at := func() property.Vector3 {
		return property.Vector3{X: side * chance.Float32(), Z: side * chance.Float32()}
	}
	for id := entity.ID(1); id <= reals; id++ {
		m := migrate.Create{ID: id, Type: d.ID, Space: 1, Order: entity.Order{Incarnation: 1}, Base: addr(100),
			Parts: migrate.AppendFirst(nil, at(), property.Vector3{}, property.NewValues(d, property.CellSide, nil), nil)}
		if id <= players {
			m.Session = flow.Session{Number: 1, Room: 920}
		}
		c.population.Create(&m, addr(100))
	}
	var now time.Duration
	tick = func() {
		now += tickPeriod
		for id := entity.ID(1); id <= players; id++ {
			r := population.find(id).real
			p := r.Position()
			p.X = min(max(p.X+chance.Float32()-0.5, 0), side-1)
			p.Z += chance.Float32() - 0.5
			if err := r.SetPosition(p); err != nil {
				t.Fatal(err)
			}
			if chance.IntN(10) == 0 {
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

// BenchmarkPackedCell is a tick of a cell with 2,000 players on 300 by 300 m who all move and see
// all others, each sent 20 kbit/s.
func BenchmarkPackedCell(b *testing.B) {
	tick, out := crowdOn(b, 300, 5000, 2000, 2000, 250, nil)
	b.ReportAllocs()
	for b.Loop() {
		tick()
	}
	b.ReportMetric(float64(out.bytes)/float64(b.N)/2000, "bytes-sent/client-tick")
}

// A tick in which nobody comes or goes uses its memory again.
func TestCellTickDoesNotAllocate(t *testing.T) {
	begun := time.Now()
	for name, watch := range map[string]*load.Stopwatch{
		"without a clock": nil, "with a clock": load.NewStopwatch(func() time.Duration { return time.Since(begun) }),
	} {
		for _, budget := range []int{0, 100} { // room for all, and for few
			tick, _ := crowdOn(t, 200, 200, 40, 20, budget, watch)
			if n := testing.AllocsPerRun(50, tick); n > 0 {
				t.Errorf("%s, budget %d: %v allocations a tick", name, budget, n)
			}
		}
	}
}
