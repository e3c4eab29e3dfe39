package host

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
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

// Option changes how a process is started.
type Option func(*options)

type options struct {
	shared    bool
	paced     bool
	pace      time.Duration
	mercury   mercury.Config
	advertise netip.Addr
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

// Advertise sets the address under which others reach an app that listens at all
// addresses of the machine (":port").
func Advertise(addr netip.Addr) Option { return func(o *options) { o.advertise = addr } }

func apply(opts []Option) (options, error) {
	var o options
	for _, f := range opts {
		f(&o)
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
