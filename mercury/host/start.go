package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// Place is where one carrier of a process is reached.
type Place struct {
	Network string          // of the carrier: "udp", "tcp", "quic", "websocket"
	Self    mercury.Address // without a place for a carrier that only dials
}

// Start makes an app and runs it on a goroutine of its own. listen is "host:port"
// for its UDP socket, its first carrier; port 0 takes a free one. "" is for an app that has
// those of the option Carriers only. The name is for logs and errors. create is called on
// the app's goroutine, before Start returns and again after the app was dismissed; its
// error is returned, as is that of a port in use, which says what to do. Carriers that
// it was given are released when the process ends, and when Start fails.
func (h *Host) Start(name, listen string, create func(Env) (App, error), opts ...Option) (*Process, error) {
	p, err := h.open(name, listen, create, opts)
	if err == nil {
		err = h.add(p)
	}
	if err != nil {
		p.cancel()
		p.release()
		return nil, fmt.Errorf("host: %s: %w", name, err)
	}
	made := make(chan error, 1)
	go p.main(made)
	if err := <-made; err != nil {
		<-p.done
		return nil, fmt.Errorf("host: %s: %w", name, err)
	}
	return p, nil
}

// open makes a process that does not run yet. With an error it has those carriers that are to be
// released.
func (h *Host) open(name, listen string, create func(Env) (App, error), opts []Option) (*Process, error) {
	o := collect(opts)
	carriers, err := o.open(listen)
	if err == nil {
		err = o.finish(carriers)
	}
	p := &Process{
		host: h, name: name, log: h.log.With("process", name), opts: o, create: create,
		carriers: carriers, done: make(chan struct{}), meter: meter{off: o.shared},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if o.lifeline != nil {
		p.lifeline = newLifeline(o.lifeline)
	}
	switch {
	case err != nil:
	case o.shared:
		p.waiter = atCarrier{carriers[0]}
	default:
		p.waiter = newWaiter(h.Clock, carriers)
	}
	return p, err
}

// release gives the carriers back, each once.
func (p *Process) release() {
	for i, c := range p.carriers {
		if slices.Index(p.carriers, c) < i {
			continue // given twice, which Start refuses
		}
		if err := c.Release(); err != nil {
			p.log.Warn("a carrier was not given back in order", "carrier", c.Network(), "error", err)
		}
	}
	if p.waiter != nil {
		p.waiter.close()
	}
	if p.lifeline != nil {
		if err := p.lifeline.close(); err != nil {
			p.log.Warn("the lifeline was not closed in order", "error", err)
		}
	}
}

// first makes the first start.
func (p *Process) first() error {
	if err := p.begin(); err != nil {
		return err
	}
	p.waiter.add(p.carriers)
	return nil
}

// begin makes a start of the app.
func (p *Process) begin() error {
	salt := p.host.chances.salt()
	net := newNet(p.carriers, p.opts.routes)
	p.net, p.seals = net, make([]*secure.Guard, len(p.carriers))
	places := make([]Place, len(p.carriers))
	for i, c := range p.carriers {
		if err := p.beginCarrier(i, salt); err != nil {
			return fmt.Errorf("%s: %w", c.Network(), err)
		}
		places[i] = Place{c.Network(), c.Self()}
	}
	p.places.Store(&places)
	p.nameInLog()
	env := Env{
		Transport: net, Net: net, Self: net.Self(), Places: slices.Clone(places), Chance: p.host.chances.source(),
		Secrets: p.host.chances.fill, Epoch: p.host.epoch, Clock: p.host.Clock, Work: p.work(), CPU: p.meter.used, ProcessCPU: processCPU,
		Carriers: p.carrierStats, Jobs: Jobs{p}, Lookout: Lookout{p}, Log: p.log,
	}
	if g := p.seal(); g != nil {
		env.Guard = g
	}
	app, err := p.create(env)
	if err == nil && app == nil {
		err = errors.New("there is no app")
	}
	if err != nil {
		return err
	}
	p.app, net.app = app, app
	p.now = p.host.Clock()
	p.next = p.now
	return nil
}

// nameInLog adds where the app listens to its log: other OS processes may run one of the same name,
// and log to the same place, and others know the app by its address.
func (p *Process) nameInLog() {
	if p.named {
		return // by an earlier start at the same place
	}
	if at := p.Address().At; at.IsValid() {
		p.log, p.named = p.log.With("listens", at), true
	}
}

// beginCarrier makes the start of one carrier, with a secret and a Guard of its own.
func (p *Process) beginCarrier(i int, salt uint32) error {
	c := p.carriers[i]
	s := mercury.Start{Salt: salt, IP: p.opts.placeOf(c), Clock: p.host.Clock, Handler: lane{p.net, i}}
	p.host.chances.fill(s.Secret[:])
	if !p.asksForProof() {
		s.Standing = mercury.Trusted
	}
	if cfg := p.opts.secure; cfg != nil {
		s.Guard = func(self mercury.Address) (mercury.Guard, error) {
			own := *cfg
			if slices.Contains(p.opts.doors, c) {
				own.Least = mercury.Stranger
			}
			g, err := p.host.guard(own, self)
			p.seals[i] = g
			return g, err
		}
	}
	if err := c.Begin(s); err != nil {
		return err
	}
	if at := c.Self().At; at.IsValid() && at.Addr().IsUnspecified() {
		return fmt.Errorf("listening at %v leaves open where others reach it: name one address, or use Advertise", at)
	}
	if p.opts.secure != nil && !c.Sealed() && !p.opts.clear[i] {
		return errors.New("the carrier is in the clear and the process is Secure: seal it, or give it by UnsealedCarriers")
	}
	return nil
}
