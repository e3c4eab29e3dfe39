package congestion

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPacerKeepsRate spends all that is allowed at random times under changing rates, and holds the
// sum against the rate.
func TestPacerKeepsRate(t *testing.T) {
	for _, rate := range []uint64{minRate, 250_000, 1_250_000, 125_000_000, 1_250_000_000, 20_000_000_000} {
		seed := rate
		rng := rand.New(rand.NewPCG(seed, 2))
		var p Pacer
		now := time.Hour
		p.set(rate, 14000, burstTime)
		burst := p.allowed(now)
		if want := max(14000, int(PerTime(rate, burstTime))); burst != want {
			t.Fatalf("rate %d: a full bucket holds %d, want %d", rate, burst, want)
		}
		began, full, idle, sent := now, now, time.Duration(0), 0
		for i := 0; sent < 300*burst; i++ {
			step := uint64(1400) // often less than a packet's time has passed, at times more than the bucket's
			if i%16 == 0 {
				step = 16 * uint64(burst) / 10
			}
			now += time.Duration(rng.Int64N(int64(timeFor(step, rate) + 2)))
			n := p.allowed(now)
			if n == burst {
				idle += now - full // the bucket was full since then or later
			}
			full = now + timeFor(uint64(burst), rate)
			p.spend(now, n)
			sent += n
		}
		most := uint64(burst) + PerTime(rate, now-began)
		least := most - PerTime(rate, idle) - most/100
		if uint64(sent) > most || uint64(sent) < least {
			t.Errorf("rate %d, seed %d: %d bytes left in %v, want %d to %d", rate, seed, sent, now-began, least, most)
		}
	}
}

// TestPacerNextAt finds the packet allowed when nextAt says, not much earlier, and an overdraft paid back.
func TestPacerNextAt(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 3))
	var p Pacer
	now := time.Hour
	for i := range 20_000 {
		if i%100 == 0 {
			p.set(minRate<<rng.IntN(20)+rng.Uint64N(1000), 1400*(1+rng.IntN(10)), time.Duration(rng.IntN(10))*time.Millisecond)
		}
		size := 1 + rng.IntN(1400)
		at := p.nextAt(now, size)
		if at < now {
			t.Fatalf("seed %d, %d: nextAt is %v before now", seed, i, now-at)
		}
		if at > now {
			wait := max(uint64(size), min(PerTime(p.rate, quantumTime), maxQuantum))
			if least := timeFor(wait+uint64(max(-p.credit, 0)), p.rate); at-now > least+1 {
				t.Fatalf("seed %d, %d: waits %v for %d bytes at %d B/s, want at most %v", seed, i, at-now, size, p.rate, least)
			}
			if early := p; early.allowed(now) >= size {
				t.Fatalf("seed %d, %d: waits, though %d bytes may leave", seed, i, size)
			}
			now = at
		}
		if n := p.allowed(now); n < size {
			t.Fatalf("seed %d, %d: %d bytes allowed at the time of nextAt for %d", seed, i, n, size)
		}
		p.spend(now, size+rng.IntN(2)*rng.IntN(3000))
	}
}

// TestPacerFewWakes counts the waits of a sender that runs when nextAt says.
func TestPacerFewWakes(t *testing.T) {
	for _, c := range []struct {
		rate uint64
		most int // per second
	}{{100_000, 75}, {10_000_000, 1100}, {500_000_000, 8000}} {
		var p Pacer
		p.set(c.rate, 14000, burstTime)
		now, wakes := time.Hour, 0
		for end := now + time.Second; now < end; {
			if p.allowed(now) >= 1400 {
				p.spend(now, 1400)
				continue
			}
			now = p.nextAt(now, 1400)
			wakes++
		}
		if wakes > c.most {
			t.Errorf("%d B/s: %d wakes a second, want at most %d", c.rate, wakes, c.most)
		}
	}
}

func TestPacerExtremes(t *testing.T) {
	var p Pacer
	if p.allowed(time.Hour) != math.MaxInt32 || p.nextAt(time.Hour, 1400) != time.Hour {
		t.Error("without a rate there is no pacing")
	}
	p.set(math.MaxUint64, 14000, burstTime)
	p.spend(time.Hour, math.MaxInt32)
	if n := p.allowed(100 * time.Hour); n != maxBurst {
		t.Errorf("at the highest rate %d bytes are allowed", n)
	}
	// What fills a deep debt for a while, and the longest burst, is the most that the numbers have to hold.
	p.set(1<<39, 14000, burstTime)
	p.spend(100*time.Hour, math.MaxInt32)
	p.spend(100*time.Hour, math.MaxInt32)
	before := p.allowed(100*time.Hour + time.Millisecond)
	if p.spendBeside(100*time.Hour+time.Millisecond, 1000); p.beside < 0 || p.allowed(100*time.Hour+time.Millisecond) > before {
		t.Errorf("a packet beside gives credit: %+v", p)
	}
	p.set(minRate, 14000, burstTime)
	p.spend(100*time.Hour, math.MaxInt32)
	if at := p.nextAt(100*time.Hour, 1400); at < 100*time.Hour || at > 200*time.Hour {
		t.Errorf("after an overdraft of 2 GB a packet leaves after %v", at-100*time.Hour)
	}
	if p.allowed(50*time.Hour) != 0 {
		t.Error("time that runs backward gives credit")
	}
	for _, c := range []struct{ a, b, c, want uint64 }{
		{6, 7, 4, 10},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64},
		{math.MaxUint64, 2, 1, math.MaxUint64},
		{1 << 40, 1 << 40, 1 << 50, 1 << 30},
	} {
		if got := mulDiv(c.a, c.b, c.c); got != c.want {
			t.Errorf("mulDiv(%d, %d, %d) = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}

// What waits for no pace takes half of it at most, and what waits gets the rest; without anything
// beside, it gets all.
func TestPacerBeside(t *testing.T) {
	for _, tt := range []struct {
		name        string
		beside      int // bytes a millisecond that wait for nothing
		least, most float64
	}{{"nothing", 0, 0.99, 1.01}, {"a quarter", 250, 0.74, 0.76}, {"ten times the rate", 10_000, 0.49, 0.51}} {
		var p Pacer
		const rate = 1_000_000
		p.set(rate, 14000, burstTime)
		now, paced := time.Hour, 0
		p.spend(now, p.allowed(now))
		for range 10_000 {
			now += time.Millisecond
			p.spendBeside(now, tt.beside)
			for n := p.allowed(now); n >= 1000; n -= 1000 {
				p.spend(now, 1000)
				paced += 1000
			}
		}
		if share := float64(paced) / (10 * rate); share < tt.least || share > tt.most {
			t.Errorf("%s: what waits got %.3f of the rate", tt.name, share)
		}
	}
}
