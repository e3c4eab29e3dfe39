package host

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

const (
	// DefaultPace is the pace of a server app: under load it wakes a thousand times
	// a second instead of for every datagram, and a message waits a millisecond at
	// most, a hundredth of a tick.
	DefaultPace = time.Millisecond
	// DefaultSharedPace is the pace of a Shared app. It is far below the round trip
	// that a player has.
	DefaultSharedPace = 5 * time.Millisecond
)

// Option changes how a process is started. A nil one changes nothing.
type Option func(*options)

type options struct {
	shared    bool
	paced     bool
	pace      time.Duration
	mercury   mercury.Config
	advertise netip.Addr
	secure    *secure.Config // nil: packets are only checksummed
}

// Shared runs the app on an ordinary goroutine instead of a thread of its own: for
// bots, which come in hundreds. Env.CPU is 0 then.
func Shared() Option { return func(o *options) { o.shared = true } }

// Pace sets the least time between two wakings of the app. What comes meanwhile is
// handed over at once, and what is sent meanwhile shares packets; a tick that is
// due does not wait. 0 wakes it for everything. The default is DefaultPace, or for
// Shared apps DefaultSharedPace.
func Pace(d time.Duration) Option { return func(o *options) { o.paced, o.pace = true, d } }

// Mercury sets the limits and times of the app's Endpoint. Salt and Secret are
// drawn by the Host.
func Mercury(cfg mercury.Config) Option { return func(o *options) { o.mercury = cfg } }

// Secure seals all channels of the process: each start has a Guard of its own, made of
// cfg, which is Env.Guard too. Random, ID and Epoch are the Host's: ID is the GuardID
// of the start. An app that is dialled needs cfg.Key, one that dials cfg.ServerKey;
// whoever it talks to must be sealed too. It takes the place of a Guard in Mercury,
// which would be one for all starts.
func Secure(cfg secure.Config) Option { return func(o *options) { o.secure = &cfg } }

// GuardID is the secure.Config.ID of the start of a Secure process that has an address:
// what secure.Guard.Mint has to know of who shall take the ticket. It is made of port
// and salt; the IP is left out, as others may reach it under another.
func GuardID(at mercury.Address) uint64 { return uint64(at.At.Port())<<32 | uint64(at.Salt) }

// Advertise sets the address under which others reach an app that listens at all
// addresses of the machine (":port").
func Advertise(addr netip.Addr) Option { return func(o *options) { o.advertise = addr } }

func apply(opts []Option) (options, error) {
	var o options
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
	if o.pace < 0 {
		return o, fmt.Errorf("host: Pace is %v: take a positive time, or 0 for none", o.pace)
	}
	return o, nil
}
