package host

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/udp"
)

const (
	// DefaultPace is the pace of a server app: under load it wakes two hundred times a second
	// instead of for every datagram, and a message waits 5 ms at most, a twentieth of a tick. To
	// wake costs as much processor time as to take fifty datagrams.
	DefaultPace = 5 * time.Millisecond
	// MaxCarriers is the most carriers of a process: one channel number in so many is left to each,
	// which is 268 million.
	MaxCarriers = 16
	// DefaultSharedPace is the pace of a Shared app. It is far below the round trip that a player
	// has.
	DefaultSharedPace = 5 * time.Millisecond
)

// Option changes how a process is started. A nil one changes nothing.
type Option func(*options)

type options struct {
	shared    bool
	paced     bool
	pace      time.Duration
	slowPace  time.Duration
	paceFrom  int
	mercury   mercury.Config
	advertise netip.Addr
	places    []advertised
	secure    *secure.Config // nil: packets are only checksummed
	carriers  []mercury.Carrier
	unsealed  []mercury.Carrier // of carriers, those of UnsealedCarriers
	doors     []mercury.Carrier // of carriers, those of Doors
	wanted    []wantedRoute
	lifeline  *net.TCPListener // nil for none

	routes []route
	clear  []bool // of each carrier: may be unsealed
}

// advertised is a carrier with an address of its own.
type advertised struct {
	carrier mercury.Carrier
	addr    netip.Addr
}

// wantedRoute is a Route as it was given.
type wantedRoute struct {
	network string
	to      []netip.Prefix
}

// Shared runs the app on an ordinary goroutine instead of a thread of its own: for
// bots, which come in hundreds. Env.CPU is 0 then.
func Shared() Option { return func(o *options) { o.shared = true } }

// Pace sets how far apart the app's turns are while much comes: after two turns in a row that began
// within one and a half Paces of the one before, the app sleeps until its Pace is over. What comes
// meanwhile is handed over at once, and what is sent meanwhile shares packets; a tick that is due
// does not wait. 0 wakes it for everything. The default is DefaultPace, or for Shared apps
// DefaultSharedPace.
func Pace(d time.Duration) Option { return func(o *options) { o.paced, o.pace = true, d } }

// SlowPace is a longer Pace, for an app that does with its next tick what comes to it. It holds while
// nothing that was sent waits for a window or the pace of a channel: else the Pace does, since the
// acks that let it go must be read soon.
func SlowPace(d time.Duration) Option { return func(o *options) { o.slowPace = d } }

// PaceFrom keeps the Pace only while the process has n channels or more: with fewer, each
// message is answered at once. The default is 0, always.
func PaceFrom(n int) Option { return func(o *options) { o.paceFrom = n } }

// Carriers lets the app be reached over these as well, or over these alone when Start is given no
// address. The first carrier of all is where the app's goroutine waits, so that it is the cheapest;
// UDP does best there. Those of a process belong to it and serve no other.
func Carriers(cs ...mercury.Carrier) Option {
	return func(o *options) { o.carriers = append(o.carriers, cs...) }
}

// Doors is Carriers for those who prove nothing, as players: what Secure's Least says does not hold
// there.
func Doors(cs ...mercury.Carrier) Option {
	return func(o *options) {
		o.carriers = append(o.carriers, cs...)
		o.doors = append(o.doors, cs...)
	}
}

// UnsealedCarriers is Carriers for those whose channels are not sealed here although the process is
// Secure: behind a proxy that ends TLS, or within a network where all are trusted. Start refuses
// others.
func UnsealedCarriers(cs ...mercury.Carrier) Option {
	return func(o *options) {
		o.carriers = append(o.carriers, cs...)
		o.unsealed = append(o.unsealed, cs...)
	}
}

// Route has addresses within these prefixes dialled over the first carrier of a network. The first
// Route that names an address counts. What no Route names is dialled over the first carrier of all.
func Route(network string, to ...netip.Prefix) Option {
	return func(o *options) { o.wanted = append(o.wanted, wantedRoute{network, to}) }
}

// Mercury sets the limits and times of the Endpoint at the address that Start is given.
// Salt and Secret are drawn by the Host.
func Mercury(cfg mercury.Config) Option { return func(o *options) { o.mercury = cfg } }

// Secure seals all channels of the process: over datagrams each start and carrier has a Guard of
// its own, made of cfg, of which the first is Env.Guard too. Other carriers must be sealed by their
// own protocol, or be given by UnsealedCarriers. Random, ID and Epoch are the Host's: ID is the
// GuardID of the start. An app that is dialled needs cfg.Key, one that dials cfg.ServerKey; whoever
// it talks to must be sealed too. With cfg.ClusterKeys, Transport.Standing tells members of the
// cluster from strangers; who comes over a carrier without a Guard is a stranger then. It takes the
// place of a Guard in Mercury, which would be one for all starts.
func Secure(cfg secure.Config) Option { return func(o *options) { o.secure = &cfg } }

// GuardID is the secure.Config.ID of the start of a Secure process that has an address:
// what secure.Guard.Mint has to know of who shall take the ticket. It is made of port
// and salt; the IP is left out, as others may reach it under another.
func GuardID(at mercury.Address) uint64 { return uint64(at.At.Port())<<32 | uint64(at.Salt) }

// Advertise sets the address under which others reach an app that listens at all
// addresses of the machine (":port"), or behind an address translation. It is for all
// carriers that were not given a place of their own, or only for those that it names.
func Advertise(addr netip.Addr, cs ...mercury.Carrier) Option {
	return func(o *options) {
		if len(cs) == 0 {
			o.advertise = addr
		}
		for _, c := range cs {
			o.places = append(o.places, advertised{c, addr})
		}
	}
}

// placeOf is the address under which others reach a carrier; invalid for the carrier's own.
func (o *options) placeOf(c mercury.Carrier) netip.Addr {
	for _, a := range o.places {
		if a.carrier == c {
			return a.addr
		}
	}
	return o.advertise
}

// collect puts the options together.
func collect(opts []Option) (o options) {
	for _, f := range opts {
		if f != nil {
			f(&o)
		}
	}
	if !o.paced {
		o.pace = DefaultPace
		if o.shared {
			o.pace = DefaultSharedPace
		}
	}
	return o
}

// open makes the list of carriers, of which a UDP socket at listen is the first. It gives those
// there are with an error, too.
func (o *options) open(listen string) ([]mercury.Carrier, error) {
	given := len(o.carriers)
	o.carriers = slices.DeleteFunc(o.carriers, func(c mercury.Carrier) bool { return c == nil })
	if len(o.carriers) < given {
		return o.carriers, errors.New("a carrier is nil")
	}
	if listen == "" {
		return o.carriers, nil
	}
	s, err := udp.Listen(listen)
	if err != nil {
		return o.carriers, err
	}
	return append([]mercury.Carrier{udp.NewCarrier(s, o.mercury)}, o.carriers...), nil
}

// finish checks the options against the carriers, and reports all faults at once.
func (o *options) finish(carriers []mercury.Carrier) error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(o.pace < 0, "Pace is %v: take a positive time, or 0 for none", o.pace)
	fault(o.slowPace < 0, "SlowPace is %v: take a positive time, or 0 for none", o.slowPace)
	fault(o.paceFrom < 0, "PaceFrom is %d: take a number of channels, or 0 for always", o.paceFrom)
	fault(len(carriers) == 0, "there is no carrier: give an address to listen at, or the option Carriers")
	fault(len(carriers) > MaxCarriers, "%d carriers: take at most %d", len(carriers), MaxCarriers)
	o.clear = make([]bool, len(carriers))
	for i, c := range carriers {
		fault(slices.Index(carriers, c) < i, "carrier %d (%s) is given twice", i, c.Network())
		o.clear[i] = slices.Contains(o.unsealed, c)
	}
	for _, a := range o.places {
		fault(!slices.Contains(carriers, a.carrier), "Advertise %v is for a carrier that is none of the process's: give that by Carriers, too", a.addr)
	}
	for _, w := range o.wanted {
		i := find(carriers, w.network)
		fault(i < 0, "Route over %q: %w: take one of the process's carriers", w.network, ErrNoCarrier)
		for _, to := range w.to {
			fault(!to.IsValid(), "Route over %q: a prefix that is not valid", w.network)
			o.routes = append(o.routes, route{to, i})
		}
	}
	return errors.Join(faults...)
}
