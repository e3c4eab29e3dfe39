package host

import (
	"errors"
	"fmt"
	"time"
)

const (
	// stopSilence is how long a process that stops waits without hearing anyone. A
	// peer that lives answers at once, or after a few resends.
	stopSilence = 500 * time.Millisecond
	// lingerPeriod is how often a process that only answers others looks whether they
	// are done.
	lingerPeriod = 2 * time.Millisecond
)

// loop runs the app until an order or an error ends it.
func (p *Process) loop() error {
	for {
		switch p.runInbox() {
		case killed:
			return nil
		case stopping:
			return p.stop()
		}
		p.now = p.host.Clock()
		if p.now >= p.next {
			p.next = p.app.Tick(p.now)
		}
		if err := p.net.Flush(); err != nil {
			return err
		}
		if d, ok := p.app.(Dismissible); ok && d.Dismissed() {
			p.log.Warn("the app was declared dead and starts anew")
			if err := p.begin(); err != nil {
				return fmt.Errorf("starting anew: %w", err)
			}
			continue
		}
		if e, ok := p.app.(Ending); ok && e.Ended() {
			p.log.Info("the app has ended")
			return p.stopAtFault(p.app)
		}
		if r, ok := p.app.(Resting); ok {
			p.next = r.NextTick()
		}
		if _, err := p.receive(p.next, p.rest()); err != nil {
			return err
		}
	}
}

// stopAtFault stops, and returns why the app has ended if that was no success.
func (p *Process) stopAtFault(a App) error {
	err := p.stop()
	if f, ok := a.(Faulty); ok {
		return errors.Join(f.Fault(), err)
	}
	return err
}

// runInbox runs what was posted, and returns the order that stands.
func (p *Process) runInbox() order {
	p.mu.Lock()
	p.busy, p.inbox = p.inbox, p.busy[:0]
	o := p.order
	p.mu.Unlock()
	if o != killed {
		for _, f := range p.busy {
			f()
		}
	}
	clear(p.busy)
	return o
}

// receive waits until something has come to any carrier, until a time by the Host's clock, until a
// carrier's deadline or until wake, and hands over what has come to all. After a rest it looks first
// whether anything has, since to prepare a wait costs more than that. What is posted while it is not
// waiting is not slept over, since a waiter keeps a wake that came early.
func (p *Process) receive(until time.Duration, rested bool) (heard bool, err error) {
	if rested {
		if heard, err = p.collect(0); heard || err != nil {
			return heard, err
		}
	}
	for _, c := range p.carriers {
		if d, ok := c.NextDeadline(); ok {
			until = min(until, d)
		}
	}
	p.meter.end()
	until = p.waiter.wait(until)
	p.meter.begin()
	return p.collect(until)
}

// collect hands over what has come to all carriers. Those that wait themselves do so until a time.
func (p *Process) collect(until time.Duration) (heard bool, err error) {
	p.net.receiving = true
	defer func() { p.net.receiving = false }()
	for _, c := range p.carriers {
		h, err := c.Receive(until)
		if err != nil {
			return heard, fmt.Errorf("%s: %w", c.Network(), err)
		}
		heard = heard || h
	}
	p.now = p.host.Clock()
	return heard, nil
}

// channels is how many there are over all carriers.
func (p *Process) channels() (n int) {
	for _, c := range p.carriers {
		n += c.Channels()
	}
	return n
}

// rest keeps the pace, and reports whether it slept. Two turns in a row that come soon after the
// one before say that more will come: the process then sleeps until the Pace is over, or the tick
// is due, and finds at once what came meanwhile. A process that has little to do is woken by what
// comes, and answers at once. One turn does not say so: a tick is answered by the peers that it
// spoke to, and then they say no more. Each sleep after such an answer was a waking for nothing,
// one in ten of an idle manager's.
func (p *Process) rest() (slept bool) {
	began, before, followed := p.now, p.woken, p.followed
	pace := p.pace()
	p.woken, p.followed = began, began-before <= pace+pace/2
	if !p.followed || !followed || p.opts.paceFrom > 0 && p.channels() < p.opts.paceFrom {
		return false
	}
	d := min(began+pace, p.next) - p.host.Clock()
	if d <= 0 {
		return false
	}
	p.meter.end()
	p.waiter.nap(d)
	p.meter.begin()
	return true
}

// pace is how far apart turns are now.
func (p *Process) pace() time.Duration {
	if p.opts.slowPace <= p.opts.pace {
		return p.opts.pace
	}
	for _, c := range p.carriers {
		if h, ok := c.(interface{ HoldsBack() bool }); !ok || h.HoldsBack() {
			return p.opts.pace
		}
	}
	return p.opts.slowPace
}

// stop tells the app, closes all channels, and waits until the peers have everything.
func (p *Process) stop() error {
	if s, ok := p.app.(Stoppable); ok {
		s.Stopping()
	}
	p.net.app = nil
	for _, c := range p.carriers {
		c.CloseAll()
	}
	alive := p.host.Clock()
	end := alive + p.host.cfg.StopTimeout
	for {
		if err := p.net.Flush(); err != nil {
			return err
		}
		now := p.host.Clock()
		quiet := p.channels() == 0
		if quiet && p.free() || now >= end || now >= alive+stopSilence {
			return nil
		}
		until := min(end, alive+stopSilence)
		if quiet {
			until = now + lingerPeriod
		}
		if p.killed() {
			return nil
		}
		heard, err := p.receive(until, false)
		if err != nil {
			return err
		}
		if heard {
			alive = p.now
		}
	}
}

// killed reports whether the strongest order was given.
func (p *Process) killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.order == killed
}
