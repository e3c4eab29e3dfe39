package space

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// posted is an encoded message between two cells.
type posted struct {
	from, to mercury.Address
	m        parser
	body     []byte
}

// mail is what the cells of a rig send each other in its encoding. As in a CellApp, neither the bytes
// nor the messages that they are read into are good for longer than one delivery.
type mail struct {
	sent    []posted
	bytes   []byte
	letters map[reflect.Type]parser // what messages are read into
}

func (l *mail) add(from, to mercury.Address, m hosting.Message) {
	start := len(l.bytes)
	l.bytes = m.Append(l.bytes)
	if l.letters == nil {
		l.letters = make(map[reflect.Type]parser)
	}
	t := reflect.TypeOf(m)
	letter := l.letters[t]
	if letter == nil {
		letter = blank(m)
		l.letters[t] = letter
	}
	l.sent = append(l.sent, posted{from, to, letter, l.bytes[start:]})
}

// post keeps what a cell sends to others in its encoding, so that the sender is charged for that and
// the receiver for reading it, and acknowledges what goes to bases.
type post struct {
	*testApp
	mail *mail
	buf  []byte
	acks []flow.Ack
}

func (o *post) Send(to mercury.Address, m hosting.Message) {
	if to != o.base {
		o.mail.add(o.self, to, m)
		return
	}
	o.buf = m.Append(o.buf[:0])
	if f, ok := m.(*flow.Message); ok && f.ToPart == entity.BasePart {
		o.acks = append(o.acks, flow.Ack{To: f.From, ToPart: entity.CellPart, From: f.To, FromPart: entity.BasePart, Incarnation: f.Incarnation, Number: f.Number, Settled: f.Number})
	}
}

func (o *post) Level(mercury.Address) mercury.Level { return mercury.Free }
func (o *post) ClientPacket(mercury.Address, entity.ID, entity.Order, uint32, []byte) error {
	return nil
}
func (o *post) LocateArea(uint64, entity.SpaceID, bsp.Rect) {}
func (o *post) ClientRoom(mercury.Address) int              { return 900 }

// crossing is a crowd that goes to and fro over the line between the first two of three cells, all
// players who see each other, with ghosts on both of the other cells.
type crossing struct {
	*rig
	mail  mail
	posts []*post
}

func newCrossing(b *testing.B, players entity.ID, budget int) *crossing {
	c := &crossing{rig: newRig(b, 3, func(c *Config) {
		*c = Config{BackupPeriod: time.Hour, Border: balance.Border{OffloadRate: 5 * float64(budget)}}.WithDefaults() // five checks a second
	})}
	chance := rand.New(rand.NewPCG(1, 1))
	for id := entity.ID(1); id <= players; id++ {
		c.create(id, -20-130*chance.Float32(), 1)
		p := c.real(id).Position()
		p.Z = 150 * chance.Float32()
		if err := c.real(id).SetPosition(p); err != nil {
			b.Fatal(err)
		}
	}
	c.tick(10)
	for _, a := range c.apps {
		o := &post{testApp: a, mail: &c.mail}
		a.cell.out, a.population.env.Out, a.cell.checkAt = o, o, never // a check is called for
		c.posts = append(c.posts, o)
	}
	return c
}

const never = 1 << 62

// deliver hands all that is under way to the cells, and counts for each by its index how long that
// took.
func (c *crossing) deliver(spent *[3]time.Duration) {
	for i := 0; i < len(c.mail.sent); i++ { // an answer may be added
		p := c.mail.sent[i]
		k := slices.IndexFunc(c.apps, func(a *testApp) bool { return a.self == p.to })
		begun := time.Now()
		if err := p.m.Parse(p.body); err != nil {
			c.t.Fatal(err)
		}
		c.rig.deliver(packet{p.from, p.to, p.m})
		spent[k] += time.Since(begun)
	}
	c.mail.sent, c.mail.bytes = c.mail.sent[:0], c.mail.bytes[:0]
}

// pass runs a tick, and returns what each cell took for its part.
func (c *crossing) pass() (took [3]time.Duration) {
	c.now += tickPeriod
	for k, a := range c.apps {
		for i := range c.posts[k].acks {
			a.population.HandleAck(&c.posts[k].acks[i], c.base)
		}
		c.posts[k].acks = c.posts[k].acks[:0]
		begun := time.Now()
		a.cell.runTick(c.now, c.now, tickPeriod)
		took[k] = time.Since(begun)
	}
	c.deliver(new([3]time.Duration))
	return took
}

// turn moves all to the other side of the line, and lets everyone see that.
func (c *crossing) turn(from *Cell) {
	for _, rec := range from.reals {
		p := rec.real.Position()
		if err := rec.real.SetPosition(property.Vector3{X: -p.X, Z: p.Z}); err != nil {
			c.t.Fatal(err)
		}
	}
	for range 3 {
		c.pass()
	}
}

// BenchmarkOffload hands players of a crowd over in one check. It reports, for each of them, what
// the check of the giving cell takes, what answers take it, what the taking cell takes for what it
// gets, a neighbour for the news of its ghosts; and by how much the next tick of giver and taker is
// longer than one of the same crowd at rest. All but the check is spread over the time in which
// messages come.
func BenchmarkOffload(b *testing.B) {
	for _, bb := range []struct {
		name    string
		players entity.ID
		budget  int
	}{
		{"20 of 20", 20, 20}, {"100 of 100", 100, 100}, {"100 of 250", 250, 100},
	} {
		b.Run(bb.name, func(b *testing.B) { offloads(b, bb.players, bb.budget) })
	}
}

func offloads(b *testing.B, players entity.ID, budget int) {
	c := newCrossing(b, players, budget)
	var check time.Duration
	var next [2]time.Duration // of the giver and the taker
	var spent [3]time.Duration
	for i := 0; b.Loop(); i++ {
		giver, taker := i%2, 1-i%2
		c.turn(c.apps[giver].cell.Cell)
		begun := time.Now()
		c.apps[giver].cell.check()
		check += time.Since(begun)
		var took [3]time.Duration
		c.deliver(&took)
		if c.apps[taker].cell.Reals() != budget || c.apps[2].cell.Ghosts() != int(players) {
			b.Fatalf("%d reals were handed over, a neighbour has %d ghosts", c.apps[taker].cell.Reals(), c.apps[2].cell.Ghosts())
		}
		spent[0], spent[1], spent[2] = spent[0]+took[giver], spent[1]+took[taker], spent[2]+took[2]
		first := c.pass()
		for range 3 {
			c.pass()
		}
		rest := c.pass()
		next[0] += first[giver] - rest[giver]
		next[1] += first[taker] - rest[taker]
		for c.apps[giver].cell.Reals() > 0 {
			c.apps[giver].cell.check()
			c.pass()
		}
	}
	report := func(d time.Duration, what string) {
		b.ReportMetric(float64(d)/float64(b.N)/float64(budget), what+"-ns/real")
	}
	report(check, "check")
	report(spent[0], "answers")
	report(spent[1], "taker")
	report(spent[2], "neighbour")
	report(next[0], "giver-next-tick")
	report(next[1], "taker-next-tick")
}
