package space

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// testClient uploads for a player, and applies what the player's cell says.
type testClient struct {
	*rig
	id       entity.ID
	sequence uint32
	read     int // of the messages to it
	at       property.Vector3
	forced   uint32
	control  bool
	vehicle  entity.ID
	told     int // Forced messages
	bytes    int // of them
}

// newClient makes a player at x with a client.
func (r *rig) newClient(id entity.ID, x float32) *testClient {
	r.create(id, x, 1)
	r.tick(1)
	p := &testClient{rig: r, id: id}
	p.hear()
	if p.forced == 0 || !p.control {
		r.t.Fatalf("the client begins with %+v", p)
	}
	return p
}

// hear applies what has come.
func (p *testClient) hear() {
	list, bodies := p.bundles(p.id)
	for i := p.read; i < len(list); i++ {
		switch list[i] {
		case protocol.CellPlayerID:
			var m protocol.CellPlayer
			if err := m.Parse(bodies[i]); err != nil {
				p.t.Fatal(err)
			}
			p.at, p.forced, p.control, p.vehicle = m.Position, m.Forced, m.Control, 0
		case protocol.ForcedID:
			var m protocol.Forced
			if err := m.Parse(bodies[i]); err != nil {
				p.t.Fatal(err)
			}
			p.at, p.forced, p.control, p.vehicle = m.Position, m.Number, m.Control, m.Vehicle
			p.told++
			p.bytes += len(m.Append(nil))
		}
	}
	p.read = len(list)
}

// say uploads a place, and reports whether the real went there.
func (p *testClient) say(at property.Vector3) bool {
	p.sequence++
	m := flow.ClientRest{Session: 1, Sequence: p.sequence, Incarnation: p.real(p.id).e.Order.Incarnation, Forced: p.forced, Position: at}
	var way hosting.Way
	for to := p.app(p.bases[p.id].app); to != nil; to = p.app(way.To) {
		_ = to.population.Follow(way.Order, func() error {
			way = to.population.ClientMove(p.id, &m)
			return nil
		})
	}
	p.at = at
	return p.real(p.id).Position() == at
}

func (p *testClient) counted() (corrected, overruled uint64) {
	for _, a := range p.apps {
		corrected += a.count.Corrected
		overruled += a.count.Overruled
	}
	return corrected, overruled
}

func x(v float32) property.Vector3 { return property.Vector3{X: v} }

// What a script sets is the last word: the client's uploads count again when it has heard.
func TestForced(t *testing.T) {
	r := newRig(t, 1)
	p := r.newClient(7, -50)
	if !p.say(x(-51)) {
		t.Fatal("an honest move is not taken")
	}
	if err := r.real(7).SetPosition(x(-80)); err != nil {
		t.Fatal(err)
	}
	if err := r.real(7).SetDirection(property.Vector3{X: 1}); err != nil {
		t.Fatal(err)
	}
	if p.say(x(-52)) {
		t.Error("a move that was made before counts")
	}
	r.tick(1)
	if p.say(x(-53)) {
		t.Error("a move that was under way counts")
	}
	p.hear()
	if p.at != x(-80) || p.told != 1 || !p.control {
		t.Errorf("the client heard %+v", p)
	}
	if !p.say(x(-81)) {
		t.Error("a move after that is not taken")
	}
	if corrected, overruled := p.counted(); corrected != 0 || overruled != 2 {
		t.Errorf("%d corrected, %d overruled", corrected, overruled)
	}
	// To be put where it is means to be put: the client may be elsewhere by then.
	r.move(7, -81)
	r.tick(1)
	if p.hear(); p.told != 2 || p.say(x(-82)) != true {
		t.Errorf("told %d times", p.told)
	}
	r.calm()
}

// A walk takes the control, costs little, and gives it back where it ends.
func TestWalkTakesTheControl(t *testing.T) {
	r := newRig(t, 2)
	p := r.newClient(7, -50)
	const ticks = 100
	if _, err := r.real(7).MoveTo(x(50), 10, "", 0); err != nil {
		t.Fatal(err)
	}
	for range ticks - 1 {
		r.tick(1)
		was, at := r.real(7).Position(), p.at
		if p.say(x(-50)); r.real(7).Position() != was {
			t.Fatal("the client moves it during the walk")
		}
		p.at = at
		p.hear()
		if p.control {
			t.Fatal("the client believes to have the control")
		}
		if d := math.Abs(float64(p.at.X - was.X)); d > 10*(ledPeriod.Seconds()+0.2) {
			t.Fatalf("the client is told %g m too late", d)
		}
	}
	if most := int(ticks*tickPeriod/ledPeriod) + 2; p.told > most || p.bytes > 30*p.told {
		t.Errorf("told %d times in %d bytes, want at most %d of 30", p.told, p.bytes, most)
	}
	t.Logf("%d bytes in %v", p.bytes, ticks*tickPeriod)
	r.tick(3)
	if p.hear(); !p.control || p.at != x(50) || !p.say(x(51)) {
		t.Errorf("after the walk %+v, real at %v", p, r.real(7).Position())
	}
	if r.real(7).cell.id != cellID(2) {
		t.Error("it has not crossed the line")
	}
	r.calm()
}

// The server keeps the control, in another cell and another life, until the script says otherwise.
func TestControlledBy(t *testing.T) {
	r := newRig(t, 2)
	p := r.newClient(7, -50)
	a := r.real(7)
	if a.ControlledBy() != 7 || a.SetControlledBy(1<<60) == nil || a.SetControlledBy(0) != nil || a.ControlledBy() != 0 {
		t.Error("the control cannot be taken")
	}
	if err := a.SetTopSpeed(7, 3); err != nil {
		t.Fatal(err)
	}
	for i, at := range []float32{-50, 50} {
		r.move(7, at)
		r.tick(5)
		if p.hear(); p.control || p.at != x(at) || p.say(x(at+1)) {
			t.Errorf("%d: the client moves it: %+v", i, p)
		}
	}
	b := r.backUp(7)
	r.real(7).cell.drop(r.real(7))
	r.restore(7, 50, b.Parts, b.Handled)
	a = r.real(7)
	if p.hear(); p.control || a.ControlledBy() != 0 || p.say(x(51)) {
		t.Error("the control came back with a restore")
	}
	if speed, vertical := a.TopSpeed(); speed != 7 || vertical != 3 {
		t.Errorf("restored with a top speed of %g, %g", speed, vertical)
	}
	if err := a.SetControlledBy(7); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	if p.hear(); !p.control || !p.say(x(51)) {
		t.Error("the client has not got the control")
	}
	for _, bad := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		if a.SetTopSpeed(bad, 0) == nil || a.SetTopSpeed(1, bad) == nil {
			t.Errorf("a top speed of %g is taken", bad)
		}
	}
	a.Destroy()
	if !errors.Is(a.SetTopSpeed(1, 0), entity.ErrGone) || !errors.Is(a.SetControlledBy(0), entity.ErrGone) {
		t.Error("a real that is gone is steered")
	}
}

// A client that flies, leaps or runs too fast is put back and counted. Nobody else sees it, in its
// cell or in another.
func TestCheatIsPutBack(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.ClientTopSpeed = 10 })
	p := r.newClient(7, -20)
	r.newClient(8, -10)
	r.newClient(9, 10)
	r.tick(5)
	for i, leap := range []property.Vector3{{X: 60}, {Y: 20}, {Z: -1e6}, {X: 1.3}, {X: 1.3}} {
		r.tick(10) // it stands still, and the next move ends a silence
		from := r.real(7).Position()
		if i >= 3 {
			// Fast running is found out when the silence has been used up.
			for range 20 {
				r.tick(1)
				p.hear()
				p.say(property.Vector3{X: p.at.X + leap.X})
			}
		} else if p.say(property.Vector3{X: from.X + leap.X, Y: from.Y + leap.Y*4, Z: from.Z + leap.Z}) {
			t.Errorf("leap %d is taken", i)
		}
		for _, a := range r.apps {
			for v := range a.cell.Views() {
				if v.ID() == 7 && (v.Position().Y != 0 || v.Position().X > 40) {
					t.Errorf("leap %d is seen: %v", i, v.Position())
				}
			}
		}
		if corrected, _ := p.counted(); corrected < uint64(i)+1 {
			t.Errorf("leap %d: %d corrected", i, corrected)
		}
		r.tick(1)
		if p.hear(); p.at != r.real(7).Position() {
			t.Errorf("leap %d: the client is at %v, its entity at %v", i, p.at, r.real(7).Position())
		}
	}
	r.calm()
}

// The debt and the number go along over a line, to and fro: no leap is free there.
func TestNoLeapOverALine(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.ClientTopSpeed = 10 })
	p := r.newClient(7, -15)
	r.real(7).steering.stride.begin(r.now)
	gone, begun := float32(0), r.now
	for i := range 320 {
		r.tick(1)
		p.hear()
		step := float32(1.5)
		if i%160 >= 80 {
			step = -1.5
		}
		if p.say(x(p.at.X + step)) {
			gone += 1.5
		}
	}
	if most := 10 * speedTolerance * (r.now - begun + MaxDebt).Seconds(); float64(gone) > most {
		t.Errorf("went %g m, at most %g", gone, most)
	}
	if n := r.apps[0].count.Migrations + r.apps[1].count.Migrations; n < 2 {
		t.Errorf("crossed the line %d times", n)
	}
	if corrected, _ := p.counted(); corrected == 0 {
		t.Error("never put back")
	}
}

// The game's own check refuses moves, corrects them, and has the last word.
func TestOnMoving(t *testing.T) {
	r := newRig(t, 1)
	p := r.newClient(7, -50)
	wall := func(from, to property.Vector3) (property.Vector3, bool) {
		switch {
		case to.X > -40:
			return x(-40), true
		case to.X < -60:
			return to, false
		case to.X < -55:
			return x(float32(math.NaN())), true
		case to.X == -54:
			_ = r.real(7).SetPosition(x(-45))
		}
		return to, true
	}
	r.avatar(7).moving = wall
	for i, c := range []struct{ to, want float32 }{{-49, -49}, {-30, -40}, {-70, -40}, {-56, -40}, {-54, -45}} {
		p.say(x(c.to))
		r.tick(1)
		p.hear()
		if got := r.real(7).Position(); got != x(c.want) || p.at != got {
			t.Errorf("move %d: at %v, the client at %v, want %g", i, got, p.at, c.want)
		}
	}
	if corrected, _ := p.counted(); corrected != 3 || r.apps[0].count.Errors != 1 {
		t.Errorf("%d corrected, %d errors", corrected, r.apps[0].count.Errors)
	}
	r.avatar(7).moving = func(_, _ property.Vector3) (property.Vector3, bool) { panic("wall") }
	p.say(x(-44))
	r.tick(1)
	if r.real(7) != nil {
		t.Error("a hook that panics goes on")
	}
}

// An honest client at top speed is never put back: its moves are late, early, lost, or all come at
// once after a stall.
func TestHonestRunner(t *testing.T) {
	for seed := range uint64(50) {
		chance := rand.New(rand.NewPCG(seed, 1))
		var s stride
		base, stall, last, made := time.Second, time.Duration(0), time.Duration(0), time.Duration(0)
		s.begin(base)
		for n := 1; n <= 3000; n++ {
			now := base + time.Duration(n)*tickPeriod
			if chance.IntN(200) == 0 {
				stall = now + time.Duration(chance.Int64N(int64(3*time.Second)))
			}
			if chance.IntN(300) == 0 { // it rests
				n += chance.IntN(100)
				made = time.Duration(n-1) * tickPeriod
				now = base + time.Duration(n)*tickPeriod
			}
			arrives := max(last, stall, now+time.Duration(chance.Int64N(int64(150*time.Millisecond))))
			if chance.IntN(5) == 0 {
				continue // lost: the next goes the whole way
			}
			last = arrives
			if need := now - base - made; !s.take(arrives, need) {
				t.Fatalf("seed %d: move %d, %v late, is put back: %+v", seed, n, arrives-now, s)
			}
			made = now - base
		}
	}
}

// A runner along a line is timed by when its moves arrive, although its CellApp tells the neighbour of
// them between its ticks. (Each time it did so, the time of the cluster fell back to that of the tick:
// the next move seemed up to three quarters of a tick too early, and at the bad moment was put back.)
func TestHonestRunnerAtALine(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.ClientTopSpeed = 10 })
	p := r.newClient(7, -5)
	r.tick(5)
	a, chance := r.apps[0].population, rand.New(rand.NewPCG(1, 1))
	if r.real(7).haunts.Len() == 0 {
		t.Fatal("nobody is told of it")
	}
	const turn = tickPeriod / 4
	began := r.now + tickPeriod + 90*time.Millisecond // a move that is early comes late in a tick
	made, arrives := 0, began                         // of the next move
	for range 1000 {
		r.tick(1)
		p.hear()
		for now := r.now; now < r.now+tickPeriod; now += turn {
			a.TellEarly(now)
			for ; arrives < now+turn; made++ {
				a.Arrive(arrives)
				if at := a.clusterNow(); at != arrives {
					t.Errorf("move %d came at %v, and counts as of %v", made, arrives, at)
				}
				if !p.say(property.Vector3{X: -5, Z: float32(made) * 10 * float32(tickPeriod.Seconds())}) {
					t.Fatalf("move %d is put back: %+v", made, r.real(7).steering.stride)
				}
				late := time.Duration(chance.Int64N(int64(MaxDebt)))
				arrives = max(arrives, began+time.Duration(made+1)*tickPeriod+late)
			}
		}
	}
	if corrected, _ := p.counted(); corrected > 0 || made < 900 {
		t.Errorf("%d of %d moves corrected", corrected, made)
	}
	r.calm()
}

// A runner is not put back where it crosses to and fro between two cells whose CellApps know the time
// of the cluster a little differently, over a network with all the jitter that is allowed.
func TestRunnerBetweenClocks(t *testing.T) {
	for seed := range uint64(50) {
		chance := rand.New(rand.NewPCG(seed, 2))
		var s stride
		base, last, behind := time.Second, time.Duration(0), time.Duration(0)
		s.begin(base)
		for n := 1; n <= 3000; n++ {
			if chance.IntN(3) == 0 {
				behind = clocksApart - behind
			}
			last = max(last, base+time.Duration(n)*tickPeriod+time.Duration(chance.Int64N(int64(maxJitter))))
			if !s.take(last-behind, tickPeriod) {
				t.Fatalf("seed %d: move %d is put back: %+v", seed, n, s)
			}
		}
	}
}

// Nobody gains by crossing to and fro between such cells, and no move that needs no time is refused.
func TestNothingGainedBetweenClocks(t *testing.T) {
	const step = 10 * time.Millisecond
	var s, idle stride
	base, gone := time.Second, time.Duration(0)
	s.begin(base)
	idle.begin(time.Hour)
	for n := 1; n <= 1000; n++ {
		now := base + time.Duration(n)*step - clocksApart*time.Duration(n%2)
		for s.take(now, step) {
			gone += step
		}
		if most := time.Duration(n)*step + MaxDebt; gone > most {
			t.Fatalf("went for %v, at most %v", gone, most)
		}
		if !idle.take(time.Hour-time.Duration(n)*clocksApart, 0) || idle.saved < -MaxDebt {
			t.Fatalf("it stands still, and is put back: %+v", idle)
		}
	}
}

// No client comes farther than the time that has passed and the debt allow.
func FuzzStride(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 0, 200, 255, 1, 0, 9})
	f.Fuzz(func(t *testing.T, moves []byte) {
		var s stride
		now, sum := time.Second, time.Duration(0)
		s.begin(now)
		for i := 0; i+1 < len(moves); i += 2 {
			now += time.Duration(moves[i]) * 10 * time.Millisecond
			need := time.Duration(moves[i+1]) * 10 * time.Millisecond
			if s.take(now, need) {
				sum += need
			}
			if moves[i]%16 == 0 {
				s.begin(now)
			}
			if sum > now-time.Second+MaxDebt {
				t.Fatalf("%v gone in %v", sum, now-time.Second)
			}
			b := s.append(nil)
			var other stride
			rd := codec.NewReader(b)
			if other.read(&rd); rd.Close() != nil || other != s {
				t.Fatalf("%+v travels as %+v", s, other)
			}
		}
	})
}

// Nothing that comes from outside makes an impossible steering.
func FuzzSteering(f *testing.F) {
	r := newRig(f, 1)
	r.newClient(7, -50)
	real := r.real(7)
	f.Add(real.appendSteering(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		rd := codec.NewReader(b)
		if real.readSteering(&rd); rd.Close() != nil {
			return
		}
		s := &real.steering
		if !s.limit.valid() || s.stride.saved < -MaxDebt || s.stride.saved > maxSilence {
			t.Errorf("%+v", s)
		}
	})
}

// A move that is checked by the top speed and by the game costs no memory.
func TestCheckedMovesDoNotAllocate(t *testing.T) {
	r := newRig(t, 1, func(c *Config) { c.ClientTopSpeed = 10 })
	p := r.newClient(7, -50)
	m := flow.ClientRest{Session: 1, Incarnation: 1, Forced: p.forced, Position: x(-50)}
	a := r.apps[0].population
	taken := 0
	r.avatar(7).moving = func(_, to property.Vector3) (property.Vector3, bool) { taken++; return to, true }
	n := testing.AllocsPerRun(100, func() {
		m.Sequence++
		m.Position.X -= 0.01
		a.ClientMove(7, &m)
	})
	if n > 0 || taken < 100 {
		t.Errorf("%v allocations a move, %d taken", n, taken)
	}
}
