package stream

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/cellscape/cellscape/mercury"
)

// link is the side of a channel that its goroutines own: one that reads, for the life of the
// connection, and one that writes, while the system does not take what there is. What they and the
// owner share is below mu.
//
//	owner                        link                          connection
//	Send ─> pending ─ Flush ──────── TryWrite ───────────────────> socket
//	                    └──────────> out ──> writing goroutine ──> socket
//	Handler <─ Receive <──────────── in <─── reading goroutine <── socket
type link struct {
	t      *Transport
	ch     *channel // the owner's; nil for an accepted link that the owner has not seen
	conn   Conn     // set before the link is opened, never changed after
	try    TryWriter
	lane   Datagrams
	from   netip.AddrPort  // accepted: where from, with the port to dial
	salt   uint32          // the peer's
	self   mercury.Address // dialled: of the start that dials
	cancel context.CancelFunc

	queued      atomic.Int64 // bytes of out, and of what the writing goroutine has in hand
	looseQueued atomic.Int64 // the same of looseOut, where there is no lane for it
	wanted      atomic.Bool  // the owner waits for room
	alive       atomic.Bool  // something has come since the last sweep
	broken      atomic.Bool  // writing failed; the reading goroutine finds out why

	// The reading goroutine's.
	buf   []byte // what was read
	have  int    // how much of it
	small int    // reads since one that used a good part of buf

	write      func() // writeAll and writeLoose as values, so that a go statement allocates nothing
	writeLoose func()

	mu           sync.Mutex
	room         *sync.Cond // the owner has taken in
	in           []byte     // whole frames for the owner
	looseIn      int        // bytes of in that came over the unreliable lane
	spare        []byte     // a buffer that the owner is through with
	out          []byte     // frames for the writing goroutine
	outSpare     []byte
	looseOut     []byte // unreliable frames, for their own goroutine or to go before out
	partial      int    // bytes at the start of out that end a frame of which the rest has left
	writing      bool   // a writing goroutine runs
	looseWriting bool
	opened       bool  // the handshake is done
	closing      bool  // the peer has sent a close
	end          error // why reading ended
	dialErr      error // what the last dial met
	listed       bool  // is in Transport.ready
	gone         bool  // shut was called
}

func newLink(t *Transport) *link {
	l := &link{t: t}
	l.room = sync.NewCond(&l.mu)
	l.write, l.writeLoose = l.writeAll, l.sendLoose
	return l
}

// attach gives l its connection; false when l was shut before.
func (l *link) attach(c Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return false
	}
	l.conn = c
	return true
}

// detach takes back a connection that came to nothing.
func (l *link) detach(why error) {
	l.mu.Lock()
	l.conn, l.dialErr = nil, why
	l.mu.Unlock()
	l.have = 0
}

// establish marks l open for the owner. It is called before the reading goroutine reads on.
func (l *link) establish(salt uint32) {
	l.mu.Lock()
	l.try, _ = l.conn.(TryWriter)
	l.lane, _ = l.conn.(Datagrams)
	l.salt, l.opened = salt, true
	l.mu.Unlock()
	l.alive.Store(true)
	l.list()
}

// shut ends the connection and everything that waits for it. Any goroutine may call it.
func (l *link) shut() {
	l.mu.Lock()
	was := l.gone
	l.gone = true
	conn, cancel := l.conn, l.cancel
	l.room.Broadcast()
	l.mu.Unlock()
	if was {
		return
	}
	if cancel != nil {
		cancel()
	}
	if conn != nil {
		_ = conn.Close()
	}
}

// list tells the owner that l has something for it.
func (l *link) list() {
	l.mu.Lock()
	was := l.listed || l.gone
	l.listed = true
	l.mu.Unlock()
	if was {
		return
	}
	t := l.t
	t.mu.Lock()
	t.ready = append(t.ready, l)
	tell := t.tell
	t.mu.Unlock()
	tell()
}

// finish tells the owner that nothing more comes.
func (l *link) finish(why error) {
	l.mu.Lock()
	l.end = why
	l.mu.Unlock()
	l.list()
}

// trim gives up buffers that are too big for a channel at rest.
func (l *link) trim() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cap(l.spare) > keepBuffer {
		l.spare = nil
	}
	if cap(l.outSpare) > keepBuffer {
		l.outSpare = nil
	}
	if len(l.out) == 0 && cap(l.out) > keepBuffer {
		l.out = nil
	}
	if len(l.looseOut) == 0 {
		l.looseOut = nil
	}
}

// peer is who is at the other end of an accepted link.
func (l *link) peer() mercury.Address {
	return mercury.Address{At: l.from, Salt: l.salt}
}
