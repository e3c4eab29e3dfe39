package stream

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Network implements mercury.Carrier: the adapter's name.
func (t *Transport) Network() string { return t.net.Name }

// Sealed implements mercury.Carrier: what the adapter says.
func (t *Transport) Sealed() bool { return t.net.Sealed }

// Begin implements mercury.Carrier. Connections of an earlier start are dropped, and their
// goroutines waited for, before the first of the new one is let in. Guard and Secret are of no use
// here.
func (t *Transport) Begin(s mercury.Start) error {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.drop()
	self := t.place
	if s.IP.IsValid() && self.IsValid() {
		self = netip.AddrPortFrom(s.IP, self.Port())
	}
	if t.cfg.Self.IsValid() {
		self = t.cfg.Self
	}
	t.clock, t.started, t.awake = s.Clock, false, 0
	t.standing = max(s.Standing, t.cfg.Standing)
	t.stats, t.gone = Stats{}, Info{}
	t.laneRefused.Store(0)
	t.channels = make(map[mercury.ChannelID]*channel)
	t.byTarget = make(map[mercury.Address]*channel)
	t.order, t.dirty, t.failing = nil, nil, nil
	t.SetHandler(s.Handler)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.self = mercury.Address{At: canonical(self), Salt: s.Salt}
	t.ready, t.pending, t.slots, t.unopened, t.stopped = nil, nil, 0, fates{}, false
	return nil
}

// CloseAll implements mercury.Carrier. Nobody is let in any more.
func (t *Transport) CloseAll() {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.SetHandler(closer{t})
	for _, c := range t.order {
		if c.state != dead {
			t.Close(c.id)
		}
	}
}

// closer is the Handler of a Transport that takes its leave: who was let in just before is sent
// away.
type closer struct{ t *Transport }

func (c closer) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { c.t.Close(ch) }
func (closer) Message(time.Duration, mercury.ChannelID, bool, []byte)            {}
func (closer) Closed(time.Duration, mercury.ChannelID, error)                    {}

// Release implements mercury.Carrier: it accepts nothing more, drops all connections and waits
// until all goroutines are gone.
func (t *Transport) Release() error {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	if t.net.Stop != nil {
		t.net.Stop()
	}
	t.SetHandler(nil)
	t.drop()
	if t.net.Close != nil {
		t.net.Close()
	}
	return nil
}

// drop ends every connection there is and waits for their goroutines. Nobody must be let in
// meanwhile.
func (t *Transport) drop() {
	for _, c := range t.order {
		t.end(c, nil)
	}
	t.mu.Lock()
	left := make([]*link, 0, len(t.links))
	for l := range t.links {
		left = append(left, l)
	}
	t.mu.Unlock()
	for _, l := range left {
		l.shut()
	}
	t.wg.Wait()
}
