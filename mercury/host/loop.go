package host

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"
)

const (
	// glance is the shortest wait at a socket: it takes what is there even when the
	// app is behind with its ticks, which would starve its channels otherwise.
	glance = 50 * time.Microsecond
	// maxRead bounds the datagrams that are read between two turns, so that a flood
	// does not keep an app from its tick.
	maxRead = 4096
	// stopSilence is how long a process that stops waits without hearing anyone. A
	// peer that lives answers at once, or after a few resends.
	stopSilence = 500 * time.Millisecond
	// lingerPeriod is how often a process that only answers others looks whether they
	// are done.
	lingerPeriod = 2 * time.Millisecond
	// maxWait bounds one wait at a socket of an app that waits for nothing.
	maxWait = time.Minute
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
		woken := p.now
		p.turn()
		if err := p.flush(); err != nil {
			return err
		}
		if d, ok := p.app.(Dismissible); ok && d.Dismissed() {
			p.log.Warn("the app was declared dead and starts anew")
			if err := p.begin(); err != nil {
				return fmt.Errorf("starting anew: %w", err)
			}
			continue
		}
		p.rest(woken)
		if err := p.receive(p.deadline()); err != nil {
			return err
		}
	}
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

// turn does what is due.
func (p *Process) turn() {
	p.now = p.host.Clock()
	p.link.Advance(p.now)
	if p.now >= p.next {
		p.next = p.app.Tick(p.now)
	}
}

func (p *Process) flush() error {
	p.link.Flush(p.now, p.socket.Queue)
	return p.socket.Flush()
}

// deadline is when the app wants to be called if nothing arrives.
func (p *Process) deadline() time.Duration {
	d := p.next
	if e, ok := p.link.NextDeadline(); ok {
		d = min(d, e)
	}
	return d
}

// rest keeps the pace: it waits until Pace has passed since the last waking, or the
// tick is due. What arrives meanwhile is then there all at once.
func (p *Process) rest(woken time.Duration) {
	until := min(woken+p.opts.pace, p.next)
	if d := until - p.host.Clock(); d > 0 {
		time.Sleep(d)
	}
}

// receive waits for datagrams, until a time by the Host's clock or an order, and
// hands over all that have come.
func (p *Process) receive(until time.Duration) error {
	p.mu.Lock()
	if len(p.inbox) > 0 || p.order != run {
		p.mu.Unlock()
		return nil
	}
	p.setDeadline(until)
	p.mu.Unlock()
	return p.readAll()
}

// setDeadline bounds the next read. It fails for a closed socket, and then the read
// tells so.
func (p *Process) setDeadline(until time.Duration) {
	wait := min(max(until-p.host.Clock(), glance), maxWait)
	_ = p.socket.SetReadDeadline(time.Now().Add(wait))
}

// readAll waits for datagrams and reads until there are no more. A read that took
// less than it could has emptied the socket, and no further one has to find that out.
func (p *Process) readAll() error {
	read := p.socket.ReadBatch
	for total := 0; ; read = p.socket.TryRead {
		n, err := p.read(read)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		if total += n; n == 0 || !p.socket.More() || total >= maxRead {
			return nil
		}
	}
}

// read reads once and counts datagrams.
func (p *Process) read(from func(func(netip.AddrPort, []byte)) error) (n int, err error) {
	err = from(func(from netip.AddrPort, datagram []byte) {
		if n == 0 {
			p.now = p.host.Clock()
		}
		n++
		p.link.Receive(p.now, from, datagram)
	})
	if n == 0 {
		p.now = p.host.Clock()
	} else {
		p.heard = p.now
	}
	return n, err
}

// stop closes all channels and waits until the peers have everything.
func (p *Process) stop() error {
	p.link.closeAll()
	p.heard = p.host.Clock()
	end := p.heard + p.host.cfg.StopTimeout
	for {
		p.now = p.host.Clock()
		p.link.Advance(p.now)
		if err := p.flush(); err != nil {
			return err
		}
		quiet := p.link.Stats().Channels == 0
		if quiet && p.free() || p.now >= end || p.now >= p.heard+stopSilence {
			return nil
		}
		until := min(end, p.heard+stopSilence)
		if quiet {
			until = p.now + lingerPeriod
		}
		if e, ok := p.link.NextDeadline(); ok {
			until = min(until, e)
		}
		p.mu.Lock()
		if p.order == killed {
			p.mu.Unlock()
			return nil
		}
		p.setDeadline(until)
		p.mu.Unlock()
		if err := p.readAll(); err != nil {
			return err
		}
	}
}
