package main

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// linkFlags describe the bad link that -self puts between its two ends. All connections share it;
// each direction has a rate, a queue and chances of its own.
type linkFlags struct {
	delay, lossFor          time.Duration
	loss, reorder           float64
	rate                    float64 // kbit/s
	queue                   time.Duration
	burstBegin, burstLength float64
	outage, outageEvery     time.Duration
	seed                    uint64

	names, given []string // of these flags: all, and those of the command line
}

// maxLinkTime bounds the delays of a link: no transport waits longer for anything.
const maxLinkTime = time.Minute

// Bounds of the rate of a link in kbit/s: below, no handshake succeeds; above, the emulation is
// slower than the link.
const minLinkRate, maxLinkRate = 8, 1e6

func (l *linkFlags) define(set *flag.FlagSet) {
	before := flagNames(set)
	set.DurationVar(&l.delay, "delay", 0, "link, with -self: each datagram takes this much longer, each way")
	set.Float64Var(&l.loss, "loss", 0, "link: `share` of the datagrams that is lost, each way, 0 to 1")
	set.DurationVar(&l.lossFor, "lossfor", 0, "link: the loss of -loss ends after this time; 0 for never")
	set.Float64Var(&l.reorder, "reorder", 0, "link: `share` of the datagrams that others overtake")
	set.Float64Var(&l.rate, "rate", 0, "link: `kbit/s` each way that all connections share; 0 for no limit")
	set.DurationVar(&l.queue, "queue", 200*time.Millisecond, "link: what would wait longer for the rate is dropped")
	set.Float64Var(&l.burstBegin, "bursts", 0, "link: `chance` of a datagram to begin a burst, in which all is lost")
	set.Float64Var(&l.burstLength, "burstlength", 5, "link: `datagrams` of a burst, on average")
	set.DurationVar(&l.outage, "outage", 0, "link: nothing passes for this long, once in each -outageevery")
	set.DurationVar(&l.outageEvery, "outageevery", 5*time.Second, "link: time from one outage to the next")
	set.Uint64Var(&l.seed, "linkseed", 1, "link: where its chances come from")
	l.names = slices.DeleteFunc(flagNames(set), func(name string) bool { return slices.Contains(before, name) })
}

func flagNames(set *flag.FlagSet) (names []string) {
	set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// faults lists what is wrong with the flags of the link, of those given.
func (l *linkFlags) faults(given []string, self, datagrams bool) error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	for _, name := range given {
		if slices.Contains(l.names, name) {
			l.given = append(l.given, name)
		}
	}
	if len(l.given) == 0 {
		return nil
	}
	list := "-" + strings.Join(l.given, ", -")
	fault(!self, "%s: take -self, which has both ends at hand", list)
	fault(!datagrams, "%s: the link carries datagrams: take -transport mercury or quic", list)
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"delay", l.delay}, {"queue", l.queue}, {"outage", l.outage}, {"outageevery", l.outageEvery}} {
		fault(d.is < 0 || d.is > maxLinkTime, "-%s %v: take 0 to %v", d.name, d.is, maxLinkTime)
	}
	fault(l.lossFor < 0, "-lossfor %v: take 0 or more", l.lossFor)
	for _, s := range []struct {
		name string
		is   float64
	}{{"loss", l.loss}, {"reorder", l.reorder}, {"bursts", l.burstBegin}} {
		fault(!(s.is >= 0 && s.is < 1), "-%s %v: take a share from 0 to below 1", s.name, s.is)
	}
	fault(l.rate != 0 && !(l.rate >= minLinkRate && l.rate <= maxLinkRate), "-rate %v: take %v to %v kbit/s, or 0", l.rate, float64(minLinkRate), float64(maxLinkRate))
	fault(l.rate > 0 && l.queue <= 0, "-queue %v: take more than 0", l.queue)
	fault(!(l.burstLength >= 1 && l.burstLength <= 1000), "-burstlength %v: take 1 to 1000", l.burstLength)
	fault(l.outage > 0 && l.outage >= l.outageEvery, "-outage %v: take less than -outageevery (%v)", l.outage, l.outageEvery)
	return errors.Join(faults...)
}

// wanted reports whether there is to be a link.
func (l *linkFlags) wanted() bool { return len(l.given) > 0 }

// link is one direction.
func (l *linkFlags) link() mercurytest.Link {
	one := mercurytest.Link{
		Delay: l.delay, Loss: l.loss, Reorder: l.reorder,
		BurstBegin: l.burstBegin, BurstEnd: 1 / l.burstLength, Outage: l.outage, OutageEvery: l.outageEvery,
	}
	if l.rate > 0 {
		one.Trunk = mercurytest.NewTrunk(int(l.rate*1000/8), l.queue)
	}
	return one
}

// between is a link that runs.
type between struct {
	*mercurytest.UserLink
	ease *time.Timer // nil when the loss has no end
}

// open starts the link before a server, and returns where clients reach the server over it.
func (l *linkFlags) open(server netip.AddrPort) (*between, netip.AddrPort, error) {
	up, down := l.link(), l.link()
	b := &between{UserLink: mercurytest.NewLink(mercurytest.LinkConfig{Seed: l.seed, Link: up})}
	b.SetLinkFrom(server, down)
	at, err := b.Via(server)
	if err != nil {
		b.Close()
		return nil, at, err
	}
	if l.lossFor > 0 {
		b.ease = time.AfterFunc(l.lossFor, func() {
			up.Loss, down.Loss = 0, 0
			b.SetLink(up)
			b.SetLinkFrom(server, down)
		})
	}
	return b, at, nil
}

func (b *between) close() {
	if b.ease != nil {
		b.ease.Stop()
	}
	b.Close()
}

// linkCounts is what the link did to the datagrams of the whole run, both ways.
type linkCounts struct {
	Sent    int `json:"sent"`
	Lost    int `json:"lost"`    // by chance, in bursts and outages
	Overrun int `json:"overrun"` // found the queue full
}

func (b *between) counts() *linkCounts {
	c := b.Counts()
	return &linkCounts{Sent: c.Sent, Lost: c.Lost, Overrun: c.Overrun}
}
