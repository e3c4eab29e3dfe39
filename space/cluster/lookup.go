package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/cellscape/cellscape/mercury/host"
)

// resolver finds where a place of Config.Managers is now.
type resolver = func(ctx context.Context, place string) ([]netip.AddrPort, error)

const (
	// lookupPeriod is the time between two rounds of lookups: what a name stands for changes with a
	// container, which takes seconds to start.
	lookupPeriod = 2 * time.Second

	// lookupTime bounds one lookup: the resolver of the system has asked twice by then.
	lookupTime = 5 * time.Second
)

// errTaken says that two places are one.
var errTaken = errors.New("another place has this address: give each its own")

// lookup knows where managers may lead. Names are looked up again and again, and apps hear where each
// is by now:
//
//	not known ──found──▶ at an address ──found among others, or not found──▶ the same
//	                        └──found without it──▶ at the first of those that were found
//
// Invariant: no two places have the same address.
type lookup struct {
	names   []string
	resolve resolver
	log     *slog.Logger

	mu sync.Mutex
	at []netip.AddrPort // of each name; not valid while it is not known

	own         netip.AddrPort // where managers here listen; not valid where there are none
	fails       []bool         // by name: the last lookup failed
	quit        context.CancelFunc
	quitted     context.Context
	ended       chan struct{}
	followsOnce sync.Once
}

func newLookup(names []string, resolve resolver, log *slog.Logger) *lookup {
	l := &lookup{names: names, resolve: resolve, log: log, at: make([]netip.AddrPort, len(names)), fails: make([]bool, len(names)), ended: make(chan struct{})}
	l.quitted, l.quit = context.WithCancel(context.Background())
	if l.resolve == nil {
		l.resolve = resolveHost
	}
	return l
}

// now are the places as they are known, in the order of the names.
func (l *lookup) now() []netip.AddrPort {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.at)
}

// first is the first place of which an address is known.
func (l *lookup) first() netip.AddrPort {
	at := l.now()
	if i := slices.IndexFunc(at, netip.AddrPort.IsValid); i >= 0 {
		return at[i]
	}
	return netip.AddrPort{}
}

// find waits until at least one place has an address, for as long as a start may take.
func (l *lookup) find(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := l.round(ctx)
		if errors.Is(err, errTaken) || len(l.names) == 0 {
			return err
		}
		if l.first().IsValid() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster: no place of Config.Managers has an address: %w", err)
		case <-time.After(pollPeriod):
		}
	}
}

// pin says where managers here listen. Whatever their own name stands for at times, they stay there: they
// would not find themselves among the places when they begin anew.
func (l *lookup) pin(at netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = at
}

// round looks all names up. Its errors are those of names that have no address now.
func (l *lookup) round(ctx context.Context) error {
	var faults []error
	for i, name := range l.names {
		one, cancel := context.WithTimeout(ctx, lookupTime)
		found, err := l.resolve(one, name)
		cancel()
		if err == nil {
			err = l.take(i, found)
		}
		if err != nil {
			err = fmt.Errorf("cluster: the place %q of managers: %w", name, err)
			faults = append(faults, err)
		}
		if fails := err != nil; fails != l.fails[i] && ctx.Err() == nil {
			if l.fails[i] = fails; fails {
				l.log.Warn("a place of managers has no address; the last known one stays", "place", name, "last", l.now()[i], "error", err)
			} else {
				l.log.Info("a place of managers has an address again", "place", name, "at", l.now()[i])
			}
		}
	}
	return errors.Join(faults...)
}

// take takes what was found of a name. The address that is known stays as long as it is among those found:
// a name with several is told in another order each time.
func (l *lookup) take(i int, found []netip.AddrPort) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := fmt.Errorf("nothing was found: %w", ErrNoManager)
	if known := l.at[i]; known.IsValid() && known == l.own || slices.Contains(found, known) {
		return nil
	}
	for _, at := range found {
		switch {
		case !at.IsValid() || at.Port() == 0 || at.Addr().IsUnspecified():
			err = fmt.Errorf("%v is no address to dial: give a host and a port", at)
		case slices.Contains(l.at, at):
			err = errTaken
		default:
			l.at[i] = at
			return nil
		}
	}
	return err
}

// fixed reports whether all names are addresses, which are what they are.
func (l *lookup) fixed() bool {
	return !slices.ContainsFunc(l.names, func(name string) bool {
		_, err := netip.ParseAddrPort(name)
		return err != nil
	})
}

// rehoused is an app that wants to know where managers may lead.
type rehoused interface{ Rehoused(places []netip.AddrPort) }

// follow looks the names up again and again until stop, and tells processes.
func (l *lookup) follow(processes func() []*host.Process) {
	l.followsOnce.Do(func() {
		if l.fixed() {
			close(l.ended)
			return
		}
		go func() {
			defer close(l.ended)
			for {
				select {
				case <-l.quitted.Done():
					return
				case <-time.After(lookupPeriod):
				}
				_ = l.round(l.quitted) // it has logged what it did not find
				at := l.now()
				// All are told each time: one that has just been made may not have heard of the last change.
				for _, p := range processes() {
					_ = p.Do(func(a host.App) { // one that has ended needs no manager
						if r, ok := a.(rehoused); ok {
							r.Rehoused(at)
						}
					})
				}
			}
		}()
	})
}

// stop ends follow, and waits for it.
func (l *lookup) stop() {
	l.quit()
	l.followsOnce.Do(func() { close(l.ended) }) // it has never begun
	<-l.ended
}

// resolveHost is the resolver of "host:port", by the system.
func resolveHost(ctx context.Context, place string) ([]netip.AddrPort, error) {
	name, service, err := net.SplitHostPort(place)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, fmt.Errorf("%q lacks a host", place)
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	found := make([]netip.AddrPort, 0, len(addrs))
	for _, a := range addrs {
		found = append(found, netip.AddrPortFrom(a.Unmap(), uint16(port)))
	}
	// IPv4 comes first, as where the system dials.
	slices.SortStableFunc(found, func(a, b netip.AddrPort) int { return cmp.Compare(a.Addr().BitLen(), b.Addr().BitLen()) })
	return found, nil
}

// ManagerAddr resolves the "host:port" of a world's managers. Port 0 is only for starting them, at
// a free port; the others then join what Cluster.ManagerAddr returns.
func ManagerAddr(addr string) (netip.AddrPort, error) {
	found, err := resolveHost(context.Background(), addr)
	if err == nil && found[0].Addr().IsUnspecified() {
		err = fmt.Errorf("%q lacks a host", addr)
	}
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("cluster: address of the managers: %w", err)
	}
	return found[0], nil
}
