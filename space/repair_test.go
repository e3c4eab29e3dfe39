package space

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// lose takes all queued messages away that of says true of, and returns how many.
func (r *rig) lose(of func(packet) bool) (n int) {
	kept := r.queue[:0]
	for _, p := range r.queue {
		if of(p) {
			n++
		} else {
			kept = append(kept, p)
		}
	}
	r.queue = kept
	return n
}

// loseNext loses the next messages of a kind.
func loseNext[M hosting.Message](r *rig) (lost *int) {
	lost = new(int)
	r.hold = func(p packet) bool {
		_, is := p.m.(M)
		return is
	}
	r.pump()
	r.tick(1)
	*lost = r.lose(r.hold)
	r.hold = nil
	return lost
}

// A State that was lost, without a word of it, of a real that does nothing.
func TestRollBringsLostState(t *testing.T) {
	r := newRig(t, 2)
	r.hold = func(p packet) bool { _, is := p.m.(*ghost.State); return is }
	r.create(7, -50, 0)
	r.tick(3)
	if n := r.lose(r.hold); n != 1 {
		t.Fatalf("%d States were under way", n)
	}
	r.hold = nil
	if r.ghost(2, 7) != nil {
		t.Fatal("a ghost without a State")
	}
	r.tick(int(rollPeriod/tickPeriod) + 2)
	if r.ghost(2, 7) == nil {
		t.Error("no ghost after a round of the roll")
	}
}

// The same of an Update.
func TestRollBringsLostUpdate(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.tick(3)
	r.avatar(7).Hp.Set(55)
	if n := *loseNext[*ghost.Update](r); n != 1 {
		t.Fatalf("%d Updates were under way", n)
	}
	r.tick(int(rollPeriod/tickPeriod) + 2)
	g := r.ghost(2, 7)
	if sum, _ := ghost.Sum(g.Entity, nil); sum != (View{r.apps[0].population.find(7)}).Sum() {
		t.Error("the ghost differs after a round of the roll")
	}
}

// After a broken channel all are called again at once, a bounded number in a tick, and each that
// was missed is asked for, a bounded number in a tick.
func TestChannelBroke(t *testing.T) {
	r := newRig(t, 2)
	const n = 3 * askBudget
	for i := range n {
		r.create(entity.ID(100+i), -50, 0)
	}
	r.tick(30)
	for i := range n {
		r.apps[1].cell.evict(r.apps[1].population.find(entity.ID(100 + i)))
	}
	ghosts := func() (k int) {
		for i := range n {
			if r.ghost(2, entity.ID(100+i)) != nil {
				k++
			}
		}
		return k
	}
	r.apps[0].cell.rolls.at = r.now + time.Hour
	r.tick(5)
	if k := ghosts(); k != 0 {
		t.Fatalf("%d ghosts came of themselves", k)
	}
	for want := askBudget; want <= n; want += askBudget {
		r.apps[0].population.ChannelBroke(addr(2))
		r.tick(1)
		if k := ghosts(); k != want {
			t.Errorf("%d ghosts, want %d", k, want)
		}
	}
}

// A cell whose reals are far inside, or have ghosts, and do nothing, calls them without an
// allocation.
func TestRollAllocatesNothing(t *testing.T) {
	r := newRig(t, 2)
	for i := range 200 {
		r.create(entity.ID(100+i), float32(-50*(1+i%3)), 0)
	}
	r.tick(30)
	c := r.apps[0].cell
	c.out = silent{}
	c.now += rollPeriod
	c.callRolls()
	if n := testing.AllocsPerRun(100, func() {
		c.now += rollPeriod
		c.callRolls()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// silent is an Outbox into which nothing is put.
type silent struct{ hosting.Outbox }

func (silent) Send(mercury.Address, hosting.Message)           {}
func (silent) Dead(mercury.Address) bool                       { return false }
func (silent) Home(entity.ID) (app mercury.Address, base bool) { return }

// What a base must hear is said until it answers, whoever said it.
func TestWordsUntilAnswered(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	r.tick(1)
	a := r.apps[0]
	r.call(7, r.scripts.Schema().Type("Avatar").CellMethod("boom").Index)
	r.tick(1)
	b := r.bases[7]
	if len(b.lost) != 1 || a.population.Unanswered() != 1 {
		t.Fatalf("said %d times, %d wait", len(b.lost), a.population.Unanswered())
	}
	r.tick(int(migrate.ResendOnload/tickPeriod) + 1)
	if len(b.lost) != 2 {
		t.Fatalf("said %d times", len(b.lost))
	}
	a.population.ChannelBroke(r.base)
	r.tick(1)
	if len(b.lost) != 3 {
		t.Fatalf("said %d times after its channel broke", len(b.lost))
	}
	// A newer Lost says what an older one said.
	a.population.tellBase(r.base, 7, entity.Order{Incarnation: 2}, &migrate.Lost{ID: 7, Order: entity.Order{Incarnation: 2}})
	if n := a.population.Unanswered(); n != 1 {
		t.Errorf("%d words wait", n)
	}
	a.population.Refuse(&migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 1}}, r.base)
	if n := a.population.Unanswered(); n != 1 {
		t.Errorf("an older answer: %d words wait", n)
	}
	a.population.Refuse(&migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 2}}, r.base)
	if n := a.population.Unanswered(); n != 0 {
		t.Errorf("%d words wait", n)
	}
}

// Words are bounded, in number and in what is said in one tick.
func TestWordsBounded(t *testing.T) {
	var u unanswered
	lost := func(id entity.ID) word {
		return word{to: addr(100), id: id, message: &migrate.Lost{ID: id}}
	}
	for i := range maxUnanswered {
		if !u.add(lost(entity.ID(1 + i))) {
			t.Fatalf("word %d", i)
		}
	}
	out := &counting{}
	for i := range 3 {
		u.repeat(time.Hour, out)
		if want := (i + 1) * wordsPerTick; out.sent != want {
			t.Errorf("%d sent, want %d", out.sent, want)
		}
	}
	if u.add(lost(maxUnanswered + 1)) {
		t.Error("one too many was kept")
	}
	for i := range maxUnanswered - 2 {
		u.answered(&migrate.Refuse{ID: entity.ID(maxUnanswered - i)}, addr(100))
	}
	out.sent = 0
	u.repeat(2*time.Hour, out)
	if out.sent != 2 || u.open != 2 || len(u.list) != 2 || len(u.byID) != 2 {
		t.Errorf("%d sent, %d wait when all but two are answered, %d and %d kept", out.sent, u.open, len(u.list), len(u.byID))
	}
}

// What a base that is slow has in its queue is not said again before there is room, and then ever
// more rarely.
func TestWordsWaitForRoom(t *testing.T) {
	var u unanswered
	out := &counting{level: mercury.Packed}
	w := word{to: addr(100), id: 7, message: &migrate.Offer{ID: 7}}
	if w.say(0, out) || !u.add(w) {
		t.Fatal("it is said to a full channel, or not kept")
	}
	var said []time.Duration
	for now := time.Duration(0); now < time.Minute; now += time.Second {
		switch now {
		case 5 * time.Second:
			out.level = mercury.High // for what is new
		case 30 * time.Second:
			out.level = mercury.Free
		case 50 * time.Second:
			u.broken(addr(100), now)
		}
		before := out.sent
		if u.repeat(now, out); out.sent > before {
			said = append(said, now/time.Second)
		}
	}
	if want := []time.Duration{5, 30, 34, 42, 50, 52, 56}; !slices.Equal(said, want) {
		t.Errorf("said at %d s, want %d", said, want)
	}
}

type counting struct {
	silent
	level mercury.Level
	sent  int
}

func (c *counting) Level(mercury.Address) mercury.Level { return c.level }

func (c *counting) Send(mercury.Address, hosting.Message) { c.sent++ }

// TestProbe asks after reals in every state that one can be in.
func TestProbe(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, -50, 0)
	r.tick(2)
	c := r.apps[0].cell
	order := entity.Order{Incarnation: 1}
	probe := func(app int, o entity.Order, hops uint8) bool {
		return r.apps[app-1].population.answerProbe(&migrate.Probe{ID: 7, Order: o, Base: r.base, Hops: hops})
	}
	said := func() (n int) {
		return r.lose(func(p packet) bool { _, is := p.m.(*migrate.Current); return is && p.to == r.base })
	}
	if !probe(1, order, 0) || said() != 1 {
		t.Error("a real does not say that it is here")
	}
	if probe(1, entity.Order{Incarnation: 2}, 0) || said() != 0 {
		t.Error("a real of an older order answered")
	}
	if !probe(2, order, 0) {
		t.Error("a ghost knows nothing")
	}
	r.pump()
	if n := r.bases[7].order; n != order {
		t.Errorf("the base heard of %v", n)
	}
	if probe(3, order, 0) {
		t.Error("who has nothing knows something")
	}
	// In a handoff, and after it.
	r.hold = func(p packet) bool { _, is := p.m.(*migrate.Onload); return is }
	r.move(7, 60)
	r.tick(10)
	if c.Handoffs() != 1 || !probe(1, order, 0) {
		t.Error("a handoff is not known")
	}
	r.hold = nil
	r.tick(10)
	said()
	r.move(7, 350) // out of sight of where it was
	r.tick(40)
	if r.ghost(1, 7) != nil {
		t.Fatal("still a ghost")
	}
	said()
	if !probe(1, order, 0) {
		t.Error("nothing is remembered of a handoff")
	}
	to := r.lose(func(p packet) bool { m, is := p.m.(*migrate.Probe); return is && m.Hops == 1 && p.to == addr(2) })
	if to != 1 {
		t.Error("the question is not passed on")
	}
	probe(1, order, migrate.MaxProbeHops)
	if n := r.lose(func(p packet) bool { _, is := p.m.(*migrate.Probe); return is }); n != 0 {
		t.Error("a question that goes on for ever")
	}
}
