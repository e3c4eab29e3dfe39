package app

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// # Fragments of services
//
// The list of fragments is part of what the cluster shares. Each caller is bound to one of them by its id,
// so that its calls are answered in their order, and each fragment has as many callers.
//
// A fragment leaves the list when its app has left or was declared dead. A process that stands still has nine
// seconds until then, so each app looks for itself which fragments show life:
//
//	       a call goes to it                 SilentAfter without an ack
//	alive -------------------> owes a sign ----------------------------> silent
//	  ^                             |                                      |  ^
//	  +-----------------------------+--------------------------------------+  | one call, AskAgain later
//	                   an ack of any flow                                  +--+
//
// Callers of a silent one go to others, as many to each, and return when it shows life. Without another one
// they stay.
//
// Invariants:
//
//   - Only calls that are yet to be made go elsewhere. One that was made stays in its flow: the fragment may
//     have handled it, and nothing is done twice. It is answered when the fragment is back, or fails with
//     the verdict.
//   - The calls of a caller to one fragment are in order, as of any flow. Of two fragments, a later call may
//     be handled before an earlier one.
//   - A fragment that lives is not silent for long: an ack of what was asked of it ends that and, if the
//     callers from here are gone elsewhere with their flows, so does one call that is made to find out.
//   - Only time in which this app was awake counts, and no tick counts for more than SilentAfter/5: what came
//     while it stood still is heard before it judges.

const (
	// SilentAfter is how long a fragment may leave a call unacknowledged. It acks within a tick of its app,
	// so by default it has missed five, and the CellAppMgr has begun to look after that app.
	SilentAfter = 500 * time.Millisecond
	// FirstNews is how long calls to a service that nobody is known to run wait for news of it, from when an
	// app has last come to the cluster: a BaseApp makes its fragments in its first tick, and all know of
	// them some ticks later. Without it what a world begins with would find no services.
	FirstNews = 2 * time.Second
	// AskAgain is how long a fragment is left at its silence if nothing more is heard of it. By default
	// the verdict has come by then.
	AskAgain = 10 * time.Second
)

// fragments are those of all services, as an app knows them.
type fragments struct {
	of map[string][]entity.ID // by service, in the order in which they came
	// owing is since when, in awake time, each of them that was asked owes a sign of life; 0 if it does not.
	owing     map[entity.ID]time.Duration
	awake, at time.Duration
	until     time.Duration // in awake time: news may come
}

func newFragments() fragments {
	return fragments{of: make(map[string][]entity.ID), owing: make(map[entity.ID]time.Duration)}
}

// Tick counts the time in which this app is awake.
func (s *Shared) Tick(now time.Duration) {
	f := &s.fragments
	f.awake += max(1, min(now-f.at, SilentAfter/5))
	f.at = now
}

// Expect notes that an app has come to the cluster, which may run services.
func (s *Shared) Expect() { s.fragments.until = s.fragments.awake + FirstNews }

// Expects reports whether a service that nobody is known to run may be one of which the news is yet to come.
func (s *Shared) Expects() bool { return s.fragments.awake < s.fragments.until }

// Serve says that a base is the fragment of a service on the app with an allocator; with id 0 that there is
// none any more.
func (s *Shared) Serve(service string, allocator uint32, id entity.ID) error {
	m := wire.SetSpaceData{Key: spacekey.Service, Name: service + "/" + strconv.FormatUint(uint64(allocator), 10), Removed: id == 0}
	if id != 0 {
		m.Value = binary.AppendUvarint(nil, uint64(id))
	}
	return s.change(m)
}

// Fragments are the bases that run a service, in the order in which they came.
func (s *Shared) Fragments(service string) []entity.ID { return s.fragments.of[service] }

// Choose is the fragment that the next call of a caller goes to: the one that it is bound to, or another
// while that is silent. It is 0 if there is none. See Asked.
func (s *Shared) Choose(service string, caller entity.ID) entity.ID {
	f := &s.fragments
	list := f.of[service]
	if len(list) == 0 {
		return 0
	}
	// Ids of neighbours differ in their last bits; the odd factor spreads them over all.
	hash := uint64(caller) * 0x9e3779b97f4a7c15 >> 33
	n := uint64(len(list))
	bound := list[hash%n]
	if !f.silent(bound) {
		return bound
	}
	lively := uint64(0)
	for _, id := range list {
		if !f.silent(id) {
			lively++
		}
	}
	if lively == 0 {
		return bound
	}
	nth := hash / n % lively
	for _, id := range list {
		if f.silent(id) {
			continue
		}
		if nth == 0 {
			return id
		}
		nth--
	}
	return bound
}

// silent reports whether a fragment shows no life.
func (f *fragments) silent(id entity.ID) bool {
	since := f.owing[id]
	quiet := f.awake - since
	return since != 0 && quiet >= SilentAfter && quiet < AskAgain
}

// Asked notes that a call has gone to a fragment.
func (s *Shared) Asked(id entity.ID) {
	f := &s.fragments
	switch since := f.owing[id]; {
	case since == 0:
		f.owing[id] = f.awake
	case f.awake-since >= AskAgain: // this call finds out, and no other one meanwhile
		f.owing[id] = f.awake - SilentAfter
	}
}

// Owes reports whether an ack of a fragment is news.
func (s *Shared) Owes(id entity.ID) bool {
	return len(s.fragments.owing) > 0 && s.fragments.owing[id] != 0
}

// Heard notes a sign of life of a fragment that owes one.
func (s *Shared) Heard(id entity.ID) { s.fragments.owing[id] = 0 }

func (f *fragments) add(e *wire.SpaceDataEntry) error {
	service, id, err := fragmentOf(e)
	if err == nil {
		f.of[service] = append(f.of[service], id)
	}
	return err
}

// clear empties the list before it is told anew. What is owed stays: prune forgets that of those which the
// list does not have then.
func (f *fragments) clear() { clear(f.of) }

func (f *fragments) prune() {
	listed := make(map[entity.ID]bool, len(f.owing))
	// order does not show: it makes a set
	for _, list := range f.of {
		for _, id := range list {
			listed[id] = true
		}
	}
	maps.DeleteFunc(f.owing, func(id entity.ID, _ time.Duration) bool { return !listed[id] })
}

func (f *fragments) drop(e *wire.SpaceDataEntry) {
	service, id, _ := fragmentOf(e)
	f.of[service] = slices.DeleteFunc(f.of[service], func(x entity.ID) bool { return x == id })
	delete(f.owing, id)
}

func fragmentOf(e *wire.SpaceDataEntry) (service string, id entity.ID, err error) {
	service, _, ok := strings.Cut(e.Name, "/")
	n, used := binary.Uvarint(e.Value)
	if id = entity.ID(n); !ok || used != len(e.Value) || !id.Valid() {
		return "", 0, fmt.Errorf("%w: %q is no fragment of a service", wire.ErrMalformed, e.Name)
	}
	return service, id, nil
}
