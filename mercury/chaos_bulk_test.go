package mercury_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// chaosBlob is a client that asks a server for a megabyte.
type chaosBlob struct {
	t    testing.TB
	rig  *mercurytest.Rig
	w    *mercurytest.World
	a, b mercurytest.Recorder
	ch   mercury.ChannelID
}

const blobSize = 1 << 20

func newChaosBlob(t testing.TB, seed uint64, link mercurytest.Link) *chaosBlob {
	t.Helper()
	c := &chaosBlob{t: t}
	c.rig, c.w = mercurytest.EndpointRigIn(t, seed, mercury.Config{})
	c.rig.SetLink(link)
	c.rig.SetHandlers(&c.a, &c.b)
	c.b.OnMessage = func(ch mercury.ChannelID, _ bool, _ []byte) {
		if err := c.rig.B.Send(ch, make([]byte, blobSize)); err != nil {
			t.Error(err)
		}
	}
	c.ch = c.rig.A.Dial(c.rig.B.Self())
	if !c.rig.RunUntil(10*time.Second, func() bool { return c.a.Of(c.ch).Opened > 0 && len(c.b.Order) > 0 }) {
		t.Fatal("the channel did not open")
	}
	return c
}

// fetch is how long a megabyte takes from the request to its last byte.
func (c *chaosBlob) fetch() time.Duration {
	c.t.Helper()
	had, begun := len(c.a.Of(c.ch).Reliable), c.w.Now()
	if err := c.rig.A.Send(c.ch, []byte("please")); err != nil {
		c.t.Fatal(err)
	}
	if !c.rig.RunUntil(time.Minute, func() bool { return len(c.a.Of(c.ch).Reliable) > had }) {
		c.t.Fatal("a megabyte did not come within a minute")
	}
	return c.w.Now() - begun
}

// A megabyte at a round trip of 50 ms: the first on a connection, then warm ones, without loss and
// with 2 % each way.
func TestChaosBlob(t *testing.T) {
	for _, test := range []struct {
		loss       float64
		cold, warm time.Duration
	}{
		{0, 220 * time.Millisecond, 120 * time.Millisecond},
		{0.02, 400 * time.Millisecond, 400 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%v %%", 100*test.loss), func(t *testing.T) {
			var cold, warm []time.Duration
			for seed := uint64(1); seed <= 5; seed++ {
				c := newChaosBlob(t, seed, mercurytest.Link{Delay: 25 * time.Millisecond, Loss: test.loss})
				cold = append(cold, c.fetch())
				c.w.Run(200 * time.Millisecond)
				warm = append(warm, c.fetch())
				c.w.Run(200 * time.Millisecond)
				warm = append(warm, c.fetch())
			}
			t.Logf("cold: median %v, max %v; warm: median %v, max %v", percentile(cold, 50), percentile(cold, 100), percentile(warm, 50), percentile(warm, 100))
			if got := percentile(cold, 50); got > test.cold {
				t.Errorf("cold: %v, want at most %v", got, test.cold)
			}
			if got := percentile(warm, 50); got > test.warm {
				t.Errorf("warm: %v, want at most %v", got, test.warm)
			}
		})
	}
}

// Through a bottleneck of 10 Mbit/s with 40 ms of round trip a megabyte takes little longer than
// the bottleneck needs, also when its buffer is a quarter of what is under way.
func TestChaosBottleneck(t *testing.T) {
	const rate = 1_250_000
	least := time.Duration(blobSize) * time.Second / rate
	for _, queue := range []int{50_000, 12_500} {
		t.Run(fmt.Sprintf("queue of %d", queue), func(t *testing.T) {
			c := newChaosBlob(t, 1, mercurytest.Link{Delay: 20 * time.Millisecond, Rate: rate, Queue: queue})
			c.fetch() // finds the rate
			before := c.w.Net.Counts()
			var worst time.Duration
			for range 5 {
				worst = max(worst, c.fetch())
			}
			after := c.w.Net.Counts()
			dropped := float64(after.Overrun-before.Overrun) / float64(after.Sent-before.Sent)
			t.Logf("a megabyte takes up to %v, the bottleneck alone %v; %.1f %% of the packets overran it", worst, least, 100*dropped)
			if most := least*100/85 + 100*time.Millisecond; worst > most {
				t.Errorf("a megabyte took %v, want at most %v", worst, most)
			}
			if dropped > 0.2 {
				t.Errorf("%.0f %% of the packets overran the queue", 100*dropped)
			}
		})
	}
}

// A path that swallows packets above some size carries long messages all the same: from the start,
// and when it becomes so.
func TestChaosMTU(t *testing.T) {
	for _, mtu := range []int{1200, 1250, 1399} {
		t.Run(fmt.Sprint(mtu), func(t *testing.T) {
			link := mercurytest.Link{Delay: 25 * time.Millisecond, MTU: mtu}
			c := newChaosBlob(t, 1, link)
			t.Logf("narrow from the start: %v", c.fetch())
			if took := c.fetch(); took > 2*time.Second {
				t.Errorf("a second megabyte took %v", took)
			}
			c = newChaosBlob(t, 1, mercurytest.Link{Delay: 25 * time.Millisecond})
			c.fetch()
			c.w.Run(10 * time.Second)
			c.rig.SetLink(link)
			took := c.fetch()
			t.Logf("narrow in the middle: %v", took)
			if took > 5*time.Second {
				t.Errorf("a megabyte took %v when the path became narrow", took)
			}
			if took := c.fetch(); took > 2*time.Second {
				t.Errorf("a megabyte took %v when the path had been narrow for long", took)
			}
		})
	}
}
