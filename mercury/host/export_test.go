package host

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Turned is a process whose turns a test takes on its own goroutine.
type Turned struct{ p *Process }

// idle is an app that hears nothing.
type idle struct{}

func (idle) Tick(now time.Duration) time.Duration                     { return now + time.Hour }
func (idle) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (idle) Message(time.Duration, mercury.ChannelID, bool, []byte)   {}
func (idle) Closed(time.Duration, mercury.ChannelID, error)           {}

// Open makes a process like Start, which nothing runs.
func (h *Host) Open(listen string, opts ...Option) (*Turned, error) {
	p, err := h.open("turned", listen, func(Env) (App, error) { return idle{}, nil }, opts)
	if err == nil {
		err = p.first()
	}
	if err != nil {
		p.release()
		return nil, err
	}
	return &Turned{p}, nil
}

// Net is the process's.
func (t *Turned) Net() *Net { return t.p.net }

// SetHandler sets who hears of the channels.
func (t *Turned) SetHandler(h mercury.Handler) { t.p.net.app = h }

// Turn takes one turn, which waits so long at most.
func (t *Turned) Turn(wait time.Duration) error {
	t.p.meter.begin()
	defer t.p.meter.end()
	if err := t.p.net.Flush(); err != nil {
		return err
	}
	_, err := t.p.receive(t.p.host.Clock()+wait, false)
	return err
}

// Release gives the carriers back.
func (t *Turned) Release() { t.p.release() }

// NewNet joins carriers outside of any process.
func NewNet(app mercury.Handler, carriers ...mercury.Carrier) *Net {
	n := newNet(carriers, nil)
	n.app = app
	return n
}

// Lane is the Handler of a carrier of n.
func (n *Net) Lane(carrier int) mercury.Handler { return lane{n, carrier} }

// Spent is how many channels of a carrier found no ID.
func (n *Net) Spent(carrier int) uint64 { return n.spent[carrier] }
