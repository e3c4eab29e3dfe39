package cellappmgr

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// network is a mercury.Transport that records what the manager does; the test speaks for the peers.
type network struct {
	peers     map[mercury.ChannelID]mercury.Address
	inboxes   map[mercury.ChannelID][][]byte
	all       []string // one line for each message sent, in order
	last      mercury.ChannelID
	closed    []mercury.ChannelID
	aborted   []mercury.ChannelID
	standings map[mercury.ChannelID]mercury.Standing // mercury.Trusted where there is none
	dialled   int
	answers   bool // dials lead to somebody
	unusable  bool
	versions  map[bsp.Version]*bsp.Tree // of space 1, all that were ever sent
	fault     error                     // of those
}

func (n *network) Self() mercury.Address { return at(1) }
func (n *network) Dial(to mercury.Address) mercury.ChannelID {
	n.dialled++
	if !n.answers {
		return 0
	}
	ch := mercury.ChannelID(1<<20 + n.dialled)
	n.peers[ch] = to
	return ch
}

func (n *network) Send(ch mercury.ChannelID, msg []byte) error {
	if _, ok := n.peers[ch]; !ok || n.unusable {
		return mercury.ErrNoChannel
	}
	n.inboxes[ch] = append(n.inboxes[ch], slices.Clone(msg))
	n.fault = errors.Join(n.fault, n.follow(msg))
	n.all = append(n.all, fmt.Sprintf("%d<%d:%x", ch, msg[0], msg[1:]))
	return nil
}

// follow takes every geometry of space 1 that is sent, and reports what is wrong with it: a delta
// from a version that never existed, or two trees of one version.
func (n *network) follow(msg []byte) error {
	var g wire.Geometry
	var a wire.AddCell
	switch wire.ID(msg[0]) {
	case wire.GeometryID:
		if err := g.Parse(msg[1:]); err != nil {
			return err
		}
	case wire.AddCellID:
		if err := a.Parse(msg[1:]); err != nil {
			return err
		}
		g = wire.Geometry{Space: a.Space, Tree: a.Tree}
	}
	if g.Space != 1 {
		return nil
	}
	h, err := bsp.ParseHead(g.Tree)
	if err != nil {
		return err
	}
	var tree *bsp.Tree
	switch {
	case !h.Delta:
		tree, err = bsp.Parse(g.Tree)
	case n.versions[h.Base] == nil:
		err = fmt.Errorf("%v, but nobody was sent that", h)
	default:
		tree, err = n.versions[h.Base].Apply(g.Tree)
	}
	if err != nil {
		return err
	}
	if old := n.versions[h.Version]; old != nil && !bytes.Equal(old.Append(nil), tree.Append(nil)) {
		return fmt.Errorf("two trees of one version:\n%v\n%v", old, tree)
	}
	n.versions[h.Version] = tree
	return nil
}

func (n *network) SendUnreliable(ch mercury.ChannelID, msg []byte) (int, error) {
	return 0, n.Send(ch, msg)
}
func (*network) Pause(mercury.ChannelID)                       {}
func (*network) Resume(mercury.ChannelID)                      {}
func (n *network) MaxUnreliable(mercury.ChannelID) int         { return 900 }
func (n *network) Queued(mercury.ChannelID) (bytes, limit int) { return 0, mercury.DefaultMaxQueued }
func (n *network) Close(ch mercury.ChannelID) {
	n.closed = append(n.closed, ch)
	delete(n.peers, ch)
}
func (n *network) Abort(ch mercury.ChannelID) {
	n.aborted = append(n.aborted, ch)
	delete(n.peers, ch)
}
func (n *network) Standing(ch mercury.ChannelID) mercury.Standing {
	if s, ok := n.standings[ch]; ok {
		return s
	}
	return mercury.Trusted
}

func (n *network) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := n.peers[ch]
	return a, ok
}

func at(n int) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), uint16(20000+n)), Salt: uint32(1000 + n)}
}

// rig is a manager with its peers.
type rig struct {
	t     testing.TB
	net   *network
	m     *CellAppMgr
	now   time.Duration
	log   bytes.Buffer
	peers []*peer
}

// peer is one process as the test plays it.
type peer struct {
	r    *rig
	role wire.Role
	addr mercury.Address
	ch   mercury.ChannelID
	mute bool // it does not report
}

var digest = [16]byte{1, 2, 3}

func newRig(t testing.TB, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, net: &network{peers: map[mercury.ChannelID]mercury.Address{}, inboxes: map[mercury.ChannelID][][]byte{},
		versions: map[bsp.Version]*bsp.Tree{}}}
	t.Cleanup(func() {
		if r.net.fault != nil {
			t.Error(r.net.fault)
		}
	})
	cfg := Config{
		Transport: r.net,
		Log: slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
		Schema:  &property.Schema{Digest: digest},
		Balance: balance.Config{MetaPeriod: time.Second},
		Spaces:  []SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 500}}},
	}
	if change != nil {
		change(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	m.sole = true
	m.Tick(0)
	return r
}

// connect opens a channel from an address.
func (r *rig) connect(role wire.Role, addr mercury.Address) *peer {
	p := &peer{r: r, role: role, addr: addr}
	p.reconnect()
	r.peers = append(r.peers, p)
	return p
}

func (p *peer) reconnect() {
	p.r.net.last++
	p.ch = p.r.net.last
	p.r.net.peers[p.ch] = p.addr
	p.r.m.Opened(p.r.now, p.ch, p.addr)
}

// join connects and joins.
func (r *rig) join(role wire.Role, n int) *peer {
	p := r.connect(role, at(n))
	p.sendJoin()
	return p
}

func (p *peer) sendJoin() {
	j := wire.Join{Speaks: wire.Spoken(), Role: p.role, Digest: digest}
	if p.role == wire.Observer {
		j.Digest = [16]byte{}
	}
	p.send(&j)
}

func (p *peer) send(msg wire.Message) { p.raw(wire.Encode(nil, msg)) }
func (p *peer) raw(msg []byte)        { p.r.m.Message(p.r.now, p.ch, true, msg) }

// drop ends the channel as the transport would.
func (p *peer) drop(reason error) {
	delete(p.r.net.peers, p.ch)
	p.r.m.Closed(p.r.now, p.ch, reason)
}

// parser is a message that can be parsed.
type parser[T any] interface {
	*T
	wire.Message
	Parse([]byte) error
}

// take removes and returns the messages of one type that a peer was sent.
func take[T any, P parser[T]](p *peer) []T {
	p.r.t.Helper()
	id := wire.IDOf(P(new(T)))
	var out []T
	var rest [][]byte
	for _, msg := range p.r.net.inboxes[p.ch] {
		if wire.ID(msg[0]) != id {
			rest = append(rest, msg)
			continue
		}
		var v T
		if err := P(&v).Parse(msg[1:]); err != nil {
			p.r.t.Fatalf("the manager sent %T that does not parse: %v", v, err)
		}
		out = append(out, v)
	}
	p.r.net.inboxes[p.ch] = rest
	return out
}

// one takes the only message of a type.
func one[T any, P parser[T]](p *peer) T {
	p.r.t.Helper()
	got := take[T, P](p)
	if len(got) != 1 {
		p.r.t.Fatalf("%v was sent %d of %T, want 1", p.addr, len(got), *new(T))
	}
	return got[0]
}

// none fails if a message of a type was sent.
func none[T any, P parser[T]](p *peer) {
	p.r.t.Helper()
	if got := take[T, P](p); len(got) != 0 {
		p.r.t.Fatalf("%v was sent %d of %T, want none: %+v", p.addr, len(got), *new(T), got)
	}
}

// ids lists the ids of what a peer was sent, and forgets it. Peers are told at every turn who else
// is a member; that has a test of its own.
func (p *peer) ids() []wire.ID {
	var out []wire.ID
	for _, msg := range p.r.net.inboxes[p.ch] {
		if id := wire.ID(msg[0]); id != wire.MembersID {
			out = append(out, id)
		}
	}
	p.r.net.inboxes[p.ch] = nil
	return out
}

// pass lets time pass in ticks; peers that are not mute report every half second.
func (r *rig) pass(d time.Duration) {
	for end := r.now + d; r.now < end; {
		r.now += 100 * time.Millisecond
		if r.now%(500*time.Millisecond) == 0 {
			for _, p := range r.peers {
				if _, open := r.net.peers[p.ch]; open && !p.mute && p.role != wire.Observer {
					p.send(&wire.Report{})
				}
			}
		}
		r.m.Tick(r.now)
	}
}

// confirm answers every AddCell that a peer was sent, and returns them.
func (p *peer) confirm() []wire.AddCell {
	got := take[wire.AddCell](p)
	for _, a := range got {
		p.send(&wire.CellCreated{Space: a.Space, Cell: a.Cell})
	}
	return got
}

// tree is the geometry of space 1 that a message gives, whole or as a delta.
func (r *rig) tree(msg []byte) *bsp.Tree {
	r.t.Helper()
	tree := r.net.versions[r.head(msg).Version]
	if tree == nil {
		r.t.Fatalf("the manager sent a tree that does not parse: %v", r.net.fault)
	}
	return tree
}

func (r *rig) head(msg []byte) bsp.Head {
	r.t.Helper()
	h, err := bsp.ParseHead(msg)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// cellReport makes a report of a cell whose load lies evenly between two values of x.
func cellReport(space entity.SpaceID, cell bsp.CellID, v bsp.Version, fractionOfCore float64, fromX, toX float32) wire.CellReport {
	var samples []load.Sample
	for i := range 100 {
		samples = append(samples, load.Sample{X: fromX + (toX-fromX)*float32(i)/100, Z: float32(i % 10), Load: 1e6})
	}
	return wire.CellReport{
		Space: space, Cell: cell, Version: v, Load: int64(fractionOfCore * float64(load.Core)), Reals: 100, Profile: load.Build(samples),
	}
}

func (p *peer) reportCells(cells ...wire.CellReport) {
	msg := wire.CellsReport{Cells: cells}
	for _, c := range cells {
		msg.Load += c.Load
	}
	p.send(&msg)
}

// logged fails unless the log has a line with all the words.
func (r *rig) logged(words ...string) {
	r.t.Helper()
	for line := range strings.Lines(r.log.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return
		}
	}
	r.t.Errorf("no line with %q in the log:\n%s", words, r.log.String())
}
