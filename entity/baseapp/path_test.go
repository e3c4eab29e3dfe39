package baseapp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// surveyed is a transport that tells how paths fare.
type surveyed struct {
	*fakeTransport
	s mercury.Survey
}

func (f *surveyed) Survey(mercury.ChannelID) (mercury.Survey, bool) { return f.s, true }

// TestNarrowPath: the cell part hears what a full path carries, at once when it is less, once in a
// period when it is more, and at last that there is no limit. A new session begins without one.
func TestNarrowPath(t *testing.T) {
	net := &surveyed{}
	r := joinedRig(t, func(c *Config) {
		net.fakeTransport = c.Transport.(*fakeTransport)
		c.Transport = net
	})
	_, id, _ := r.playLive()
	c := r.a.byID[id].client()
	after := uint64(0)
	carry := func(d time.Duration, sent, lost uint64) (rates []uint32) {
		for end := r.now + d; r.now < end; {
			net.s.Packets, net.s.Lost, net.s.Delivered = net.s.Packets+10, net.s.Lost+lost, net.s.Delivered+sent/10
			c.sent += sent / 10
			r.tick()
			rates = append(rates, r.toldOf(rateOf, &after)...)
		}
		return rates
	}
	r.toldOf(rateOf, &after)
	if rates := carry(10*time.Second, 20_000, 0); len(rates) != 0 {
		t.Errorf("told %d of a path that is not full", rates)
	}
	rates := carry(time.Second, 8_000, 5)
	if len(rates) != 1 || rates[0] < 4000 || rates[0] > 8000 {
		t.Fatalf("told %d of a path that carries 8000", rates)
	}
	rates = carry(40*time.Second, 8_000, 0)
	if len(rates) < 5 || len(rates) > 40 || !slices.IsSorted(rates[:len(rates)-1]) || rates[len(rates)-1] != 0 {
		t.Errorf("told %d of a path that is not full any more", rates)
	}
}

// TestNarrowPathUnsurveyed: over a transport that tells nothing of its paths, what waits counts.
func TestNarrowPathUnsurveyed(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.playLive()
	c := r.a.byID[id].client()
	r.net.waiting = map[mercury.Address]int{r.net.peers[p.ch]: 0}
	after := uint64(0)
	r.toldOf(rateOf, &after)
	for range 30 {
		c.sent += 1000
		r.net.waiting[r.net.peers[p.ch]] += 400
		r.tick()
	}
	if rates := r.toldOf(rateOf, &after); len(rates) == 0 || rates[0] == 0 || rates[0] >= 10_000 {
		t.Errorf("told %d", rates)
	}
}

// TestUploadLimits: the limits are those of the configuration.
func TestUploadLimits(t *testing.T) {
	limit := func(c *Config) { c.Upload = UploadLimits{Messages: 60, Bytes: 5000} }
	call := (&protocol.BaseCall{Method: 0}).Append(nil)
	r := joinedRig(t, limit)
	p, _, _ := r.play("ann")
	for range 58 { // and the attach
		p.say(call)
	}
	p.wantHeard()
	p.say(slices.Repeat(call, 3))
	p.wantRefused(protocol.Flooding)

	r = joinedRig(t, limit)
	p, _, _ = r.play("ann")
	p.say((&protocol.BaseCall{Method: 0, Args: make([]byte, 4000)}).Append(nil))
	p.wantHeard()
	p.say((&protocol.BaseCall{Method: 0, Args: make([]byte, 1500)}).Append(nil))
	p.wantRefused(protocol.Flooding)

	err := UploadLimits{Messages: 1, Bytes: -1}.Validate()
	for _, field := range []string{"Upload.Messages", "Upload.Bytes"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("no word on %s in %v", field, err)
		}
	}
}
