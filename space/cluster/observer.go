package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// ObserverConfig says which world to observe.
type ObserverConfig struct {
	// Manager is where the CellAppMgr listens. Required.
	Manager netip.AddrPort
	// Managers are all places where it may lead, if there are several.
	Managers []netip.AddrPort
	// Places are the same as Config.Managers has them, with its Resolve, instead of Manager and Managers:
	// the observer then finds managers that have another address, too.
	Places  []string
	Resolve func(ctx context.Context, place string) ([]netip.AddrPort, error)
	// ServerKey is the public half of the world's Config.Key. Required for a sealed world.
	ServerKey secure.PublicKey
	// Access admits the observer to a sealed world, and is required there: the Observer or the
	// Operator key of one of its ClusterKeys. The default of those is Config.Key.ClusterKey().
	Access secure.AccessKey
	// Listen is the host that the observer's socket listens at. Default 127.0.0.1.
	Listen string
	// Log is for operators. Default: nothing is logged.
	Log *slog.Logger
}

// where lists the places at which managers may lead.
func (c *ObserverConfig) where() string {
	if len(c.Places) > 0 {
		return strings.Join(c.Places, ", ")
	}
	if len(c.Managers) == 0 {
		return c.Manager.String()
	}
	var list []string
	for _, m := range c.Managers {
		list = append(list, m.String())
	}
	return strings.Join(list, ", ")
}

// ErrNotConnected is returned by Freeze, Values, Read and Set while the managers cannot be reached.
var ErrNotConnected = errors.New("cluster: the observer has no connection to the managers")

// ErrNotOperator is returned by Freeze, Shutdown and Set of an observer that may only read.
var ErrNotOperator = errors.New("cluster: freezing or stopping a world, or setting a value of it, takes an operator's key")

// Observer watches a world from any OS process, as a space viewer does. It is sent the status every
// second.
type Observer struct {
	host    *host.Host
	process *host.Process
	places  *lookup
	where   string // it looks for the managers
	reads   bool   // it may only read

	mu   sync.Mutex
	last status.World
	seen uint64        // number of last, 0 for none
	news chan struct{} // closed and replaced with each status
}

// Observe begins to watch. It does not wait for the managers. ctx bounds only the start; the
// observer outlives it.
func Observe(ctx context.Context, cfg ObserverConfig) (*Observer, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if len(cfg.Places) == 0 && (!cfg.Manager.IsValid() || cfg.Manager.Port() == 0) {
		return nil, fmt.Errorf("cluster: ObserverConfig.Manager is %v: give the address and port of the CellAppMgr, or Places", cfg.Manager)
	}
	if cfg.ServerKey.IsZero() != cfg.Access.IsZero() {
		return nil, errors.New("cluster: ObserverConfig has only one of ServerKey and Access: give both for a sealed world, neither for another")
	}
	orDefault(&cfg.Listen, DefaultListen)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	places := newLookup(cfg.Places, cfg.Resolve, cfg.Log)
	if len(cfg.Places) > 0 {
		_ = places.round(ctx) // it has logged what it did not find, and looks again
		cfg.Manager, cfg.Managers = places.first(), places.now()
	}
	h, err := host.New(host.Config{Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	o := &Observer{host: h, places: places, where: cfg.where(), reads: cfg.Access.Standing() == mercury.Observer, news: make(chan struct{})}
	listen, err := addressOf(cfg.Listen)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	o.process, err = h.Start("observer", net.JoinHostPort(listen, "0"), func(e host.Env) (host.App, error) {
		return newWatcher(e.Transport, &cfg, e.Log, o.put), nil
	}, host.Shared(), sealOption(secure.Config{ServerKey: cfg.ServerKey, Access: cfg.Access}))
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	places.follow(func() []*host.Process { return []*host.Process{o.process} })
	return o, nil
}

// Close ends the observation.
func (o *Observer) Close() error {
	o.places.stop()
	return o.host.Close()
}

func (o *Observer) put(w status.World) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = w
	o.seen++
	close(o.news)
	o.news = make(chan struct{})
}

// Status returns the last status that the observer was sent; false before the first.
func (o *Observer) Status() (status.World, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last, o.seen > 0
}

// Trouble says why there is no status: the managers refuse the observer, or cannot be reached. It
// is nil if no reason is known.
func (o *Observer) Trouble() error { return o.process.Trouble() }

// Next waits for the next status. If it waits long, Trouble tells why. An observer that the managers
// refuse, such as one of another build, is told at once, by an error that wraps ErrRefused.
func (o *Observer) Next(ctx context.Context) (status.World, error) {
	o.mu.Lock()
	news := o.news
	o.mu.Unlock()
	look := time.NewTicker(lookPeriod)
	defer look.Stop()
	for {
		select {
		case <-news:
			s, _ := o.Status()
			return s, nil
		case <-ctx.Done():
			return status.World{}, context.Cause(ctx)
		case <-o.process.Done():
			return status.World{}, errors.Join(ErrNotConnected, o.process.Err())
		case <-look.C:
			if err := o.refused(); err != nil {
				return status.World{}, err
			}
		}
	}
}

// refused is why the managers refuse this observer; nil if they do not, or have not answered.
func (o *Observer) refused() error {
	if err := o.Trouble(); errors.Is(err, ErrRefused) {
		return err
	}
	return nil
}

// Freeze(true) stops the world's own movement (timers, controllers, offloads, balance) and lifts
// the budgets of the clients, so that everyone can be told everything; Freeze(false) lets it go on.
// Each Freeze of a frozen world makes the CellApps compare their ghosts with the reals and count
// differences (Counters.GhostsDiffer). In a sealed world it takes an operator's key.
func (o *Observer) Freeze(on bool) error {
	if o.reads {
		return ErrNotOperator
	}
	var ok bool
	err := o.process.Do(func(a host.App) { ok = a.(*watcher).freeze(on) })
	if err == nil && !ok {
		err = ErrNotConnected
	}
	return err
}

// watcher is the observer as a state machine.
type watcher struct {
	links   app.Links
	manager app.Member
	routes  app.Routes[time.Duration] // S is the time of a message
	log     *slog.Logger

	ending   status.Stop // how far the stop of the world is, as it was told
	heardEnd bool        // the order, by the manager that it is joined to now
}

// watchPeriod is the time between ticks. A tick only joins again if needed.
const watchPeriod = 200 * time.Millisecond

func newWatcher(t mercury.Transport, cfg *ObserverConfig, log *slog.Logger, put func(status.World)) *watcher {
	w := &watcher{links: app.Links{Transport: t, Log: log}, log: log}
	w.manager = app.NewMember(&w.links, cfg.Manager, wire.Join{Role: wire.Observer})
	w.manager.Among(cfg.Managers...)
	app.On(&w.routes, func(_ time.Duration, m *wire.Status) {
		w.manager.Accepted()
		put(m.World)
	})
	app.On(&w.routes, func(now time.Duration, m *wire.Refused) {
		w.log.Error("the managers refuse the observer", "reason", m.Reason)
		w.manager.Refused(now, m.Reason)
	})
	// A manager that has just begun to lead says that no stop is under way: it was told too early, and has
	// to be told again. That was taken for an answer, and the world never stopped.
	app.On(&w.routes, func(_ time.Duration, m *wire.WorldEnding) { w.ending, w.heardEnd = m.Stop, m.Stop.Step != "" })
	app.On(&w.routes, func(now time.Duration, m *wire.Watched) { w.links.Answered(now, w.manager.Channel(), m) }) // or too late
	w.routes.Ignore(wire.WelcomeID, wire.DismissedID)
	return w
}

func (w *watcher) Tick(now time.Duration) time.Duration {
	w.links.Tick(now)
	w.manager.Tick(now)
	return now + watchPeriod
}

// Rehoused is told where managers may lead now.
func (w *watcher) Rehoused(places []netip.AddrPort) { w.manager.Rehoused(places) }

func (w *watcher) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	if !w.manager.Opened(ch) {
		w.links.Transport.Abort(ch) // an observer serves nobody
	}
}

func (w *watcher) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	w.links.Closed(now, ch, reason)
	if w.manager.Closed(now, ch, reason) {
		w.heardEnd = false
		w.log.Debug("no connection to the managers", "reason", reason)
	}
}

func (w *watcher) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	if !w.manager.Is(ch) {
		return
	}
	id, body, err := wire.Split(msg)
	if err == nil {
		err = w.routes.Handle(now, id, body)
	}
	if err != nil {
		w.log.Warn("message dropped", "error", err)
	}
}

// Trouble says why there is no status.
func (w *watcher) Trouble() error { return w.manager.Trouble() }

func (w *watcher) freeze(on bool) bool {
	if !w.manager.Open() {
		return false
	}
	w.manager.Send(&wire.Freeze{On: on})
	return true
}
