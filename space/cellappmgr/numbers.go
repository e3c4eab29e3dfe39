package cellappmgr

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Without a store the numbers in ids begin with the term, which has 8 bits there. With one they come from its
// counters, in blocks that are never given twice, whatever starts anew:
//
//	an allocator  20                 1   0        a space  31                0
//	              +------------------+------+              +-----------------+
//	              | number           | base |              | MaxSpaceID + n  |
//	              +------------------+------+              +-----------------+
//
//	empty, or half used --a job reserves--> a block more
//	                    <--it fails: again after numbersAgain--
//
// Whoever wants to join while there is none waits, and what asks for a space is refused. Those who
// are here go on.
const (
	// appNumbers is how many numbers of apps are taken at a time: a few dozen start together. What is left
	// when the manager ends is never given, so that a world sees its manager start some ten thousand times.
	appNumbers = 64
	// spaceNumbers is how many numbers of spaces are: a burst of parties that all want a dungeon.
	spaceNumbers = 1024

	// maxAppNumber fills the bits of an allocator, maxSpaceNumber those of a space id.
	maxAppNumber   = 1<<20 - 1
	maxSpaceNumber = 1<<32 - 1 - uint64(MaxSpaceID)

	// numbersAgain is the time between two tries.
	numbersAgain = time.Second
)

// Tokens of the jobs.
const (
	appNumbersToken = 1 + iota
	spaceNumbersToken
)

// Numbers gives numbers that nobody was ever given: a store.Store does.
type Numbers interface {
	// Reserve returns the first of n numbers of a counter.
	Reserve(ctx context.Context, c store.Counter, n uint64) (first uint64, err error)
}

// Jobs runs what blocks. The runner provides it, and passes the results to JobDone.
type Jobs interface {
	Do(token uint64, run func(ctx context.Context) any)
}

// reserve is a supply of numbers.
type reserve struct {
	blocks []block // those that are not used up, at most two
	first  uint64  // of all that this manager was given; 0 while there was none
	asking bool
	askAt  time.Duration
	err    error // why the last try gave none
}

type block struct{ next, end uint64 }

// reserved is the result of a job.
type reserved struct {
	first uint64
	err   error
}

// take takes a number, 0 if there is none.
func (r *reserve) take() uint64 {
	if len(r.blocks) == 0 {
		return 0
	}
	b := &r.blocks[0]
	n := b.next
	if b.next++; b.next == b.end {
		r.blocks = slices.Delete(r.blocks, 0, 1)
	}
	return n
}

func (r *reserve) left() (n uint64) {
	for _, b := range r.blocks {
		n += b.end - b.next
	}
	return n
}

// tickNumbers has more numbers reserved when half of a block is left.
func (m *CellAppMgr) tickNumbers(now time.Duration) {
	if m.cfg.Numbers == nil {
		return
	}
	m.replenish(now, &m.appSupply, appNumbersToken, store.Allocators, appNumbers)
	m.replenish(now, &m.spaceSupply, spaceNumbersToken, store.Spaces, spaceNumbers)
}

func (m *CellAppMgr) replenish(now time.Duration, r *reserve, token uint64, c store.Counter, n uint64) {
	if r.asking || now < r.askAt || r.left() > n/2 {
		return
	}
	r.asking, r.askAt = true, now+numbersAgain
	numbers := m.cfg.Numbers
	m.cfg.Jobs.Do(token, func(ctx context.Context) any {
		first, err := numbers.Reserve(ctx, c, n)
		return reserved{first, err}
	})
}

var errUsedUp = errors.New("they are used up")

// numbersState says for the status why nobody new can be let in, or no space made, before long; empty if all
// is well.
func (m *CellAppMgr) numbersState() string {
	for _, r := range []*reserve{&m.appSupply, &m.spaceSupply} {
		if r.err != nil {
			text := "it gives no numbers for new apps or spaces: " + r.err.Error()
			return text[:min(len(text), wire.MaxStoreState)]
		}
	}
	return ""
}

// JobDone takes the result of a job. One that a manager before this one at the same Seat has asked
// for is as good.
func (m *CellAppMgr) JobDone(now time.Duration, token uint64, result any) {
	m.wake(now)
	r, n, most := &m.appSupply, uint64(appNumbers), uint64(maxAppNumber)
	if token == spaceNumbersToken {
		r, n, most = &m.spaceSupply, spaceNumbers, maxSpaceNumber
	}
	if !r.asking {
		return
	}
	r.asking = false
	got, ok := result.(reserved)
	switch {
	case !ok || got.err != nil:
		r.err = got.err
		if unlogged, ok := m.lines.Allow(now, "numbers"); ok {
			m.log.Error("the store gives no numbers for new apps or spaces; it is asked again", "error", got.err, "unlogged", unlogged)
		}
		return
	case got.first == 0 || got.first+n-1 > most:
		r.err = errUsedUp
		if unlogged, ok := m.lines.Allow(now, "numbers"); ok {
			m.log.Error("the numbers for apps or spaces are used up", "first", got.first, "most", most, "unlogged", unlogged)
		}
		return
	}
	r.err = nil
	if r.first == 0 {
		r.first = got.first
	}
	r.blocks = append(r.blocks, block{got.first, got.first + n})
	m.admitWaiting(now)
}

// wantsNumber reports whether a new start has to wait for a number.
func (m *CellAppMgr) wantsNumber(role wire.Role) bool {
	if m.cfg.Numbers == nil || role != wire.CellApp && role != wire.BaseApp {
		return false
	}
	for m.appSupply.left() > 0 && m.numbered(m.appSupply.blocks[0].next) {
		m.appSupply.take()
	}
	return m.appSupply.left() == 0
}

// numbered reports whether an app has a number, or had it before it died. A store gives a number twice
// only if it is not the one that the world began with; then ids would be given twice, too.
func (m *CellAppMgr) numbered(n uint64) bool {
	is := func(allocator uint32) bool { return uint64(allocator>>appShift) == n }
	had := false
	m.backups.gone.Each(func(d *migrate.Departure) { had = had || is(d.Allocator) })
	return had || slices.ContainsFunc(m.members, func(a *member) bool { return is(a.allocator) })
}

// admitWaiting lets those in who have waited for a number.
func (m *CellAppMgr) admitWaiting(now time.Duration) {
	list := m.unnumbered
	m.unnumbered = nil
	for i := range list {
		m.join(now, list[i].ch, list[i].peer, &list[i].join)
	}
}

// awaitNumber keeps a Join until there is a number for its sender.
func (m *CellAppMgr) awaitNumber(ch mercury.ChannelID, peer mercury.Address, j *wire.Join) {
	m.unnumbered = slices.DeleteFunc(m.unnumbered, func(w waiting) bool { return w.peer == peer })
	m.unnumbered = append(m.unnumbered, waiting{ch, peer, *j})
}

// allocatorFor is the allocator of a new start, 0 for a role that issues no ids.
func (m *CellAppMgr) allocatorFor(role wire.Role) uint32 {
	base := uint32(0)
	switch role {
	case wire.BaseApp:
		base = 1
	case wire.CellApp:
	default:
		return 0
	}
	if m.cfg.Numbers != nil {
		return uint32(m.appSupply.take())<<appShift | base
	}
	return m.cfg.Term<<termShift | m.starts[role]<<appShift | base
}

// issuedSpace reports whether this manager has, or could have, given out a space id: then a CellApp
// cannot know it from another.
func (m *CellAppMgr) issuedSpace(id entity.SpaceID) bool {
	if m.cfg.Numbers == nil {
		return uint32(id)>>spaceTermShift >= m.cfg.Term
	}
	return m.spaceSupply.first != 0 && uint64(id-MaxSpaceID) >= m.spaceSupply.first
}
