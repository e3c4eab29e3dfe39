package app_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// line is a transport on which nothing arrives; it counts what is asked of it.
type line struct {
	dials, sends, closes, aborts int
	to                           mercury.Address
	last                         []byte
	peer                         mercury.Address // addr6 if zero
	waiting                      int             // bytes of lineLimit
}

// lineLimit is how many bytes may wait on a line.
const lineLimit = 1 << 20

func (l *line) Self() mercury.Address { return addr4 }
func (l *line) Dial(to mercury.Address) mercury.ChannelID {
	l.dials++
	l.to = to
	return mercury.ChannelID(l.dials)
}
func (l *line) Send(_ mercury.ChannelID, msg []byte) error {
	l.sends++
	l.last = append(l.last[:0], msg...)
	return nil
}
func (l *line) SendUnreliable(ch mercury.ChannelID, msg []byte) (int, error) {
	return 0, l.Send(ch, msg)
}
func (*line) Pause(mercury.ChannelID)                       {}
func (*line) Resume(mercury.ChannelID)                      {}
func (l *line) MaxUnreliable(mercury.ChannelID) int         { return 900 }
func (l *line) Queued(mercury.ChannelID) (bytes, limit int) { return l.waiting, lineLimit }
func (l *line) Close(mercury.ChannelID)                     { l.closes++ }
func (l *line) Abort(mercury.ChannelID)                     { l.aborts++ }
func (l *line) Standing(mercury.ChannelID) mercury.Standing { return mercury.Trusted }
func (l *line) Peer(mercury.ChannelID) (mercury.Address, bool) {
	if l.peer.IsZero() {
		return addr6, true
	}
	return l.peer, true
}

func TestLinksRefuseTheDead(t *testing.T) {
	var l line
	links := app.Links{Transport: &l}
	msg := &wire.Freeze{On: true}
	if err := links.Send(mercury.Address{}, msg); err != nil || l.sends != 0 {
		t.Errorf("to nobody: %v, %d sent", err, l.sends)
	}
	if err := links.Send(addr6, msg); err != nil || l.sends != 1 || l.to != addr6 {
		t.Errorf("%v, %d sent to %v", err, l.sends, l.to)
	}
	if a, ok := links.From(1); !ok || a != addr6 {
		t.Errorf("from %v %v", a, ok)
	}
	links.Bury(wire.CellApp, addr6)
	links.Bury(wire.CellApp, addr6)
	if l.aborts != 1 || !links.Dead(addr6) {
		t.Errorf("%d channels dropped", l.aborts)
	}
	for _, send := range []func(mercury.Address, wire.Message) error{links.Send, links.SendUnreliable} {
		if err := send(addr6, msg); err != nil || l.sends != 1 {
			t.Errorf("to the dead: %v, %d sent", err, l.sends)
		}
	}
	if _, ok := links.From(1); ok {
		t.Error("the dead are listened to")
	}
	next := addr6
	next.Salt++
	if links.Dead(next) {
		t.Error("the next start at that place is dead as well")
	}
}

// What is remembered of the dead is bounded; the oldest are forgotten first.
func TestLinksForgetOldDeaths(t *testing.T) {
	links := app.Links{Transport: &line{}}
	for salt := range uint32(1025) {
		links.Bury(wire.BaseApp, mercury.Address{At: addr4.At, Salt: salt + 1})
	}
	if links.Dead(mercury.Address{At: addr4.At, Salt: 1}) || !links.Dead(mercury.Address{At: addr4.At, Salt: 2}) {
		t.Error("not the oldest was forgotten")
	}
	if g := links.Graves(); len(g) != wire.MaxGraves || g[0] != (wire.AppRef{Role: wire.BaseApp, App: mercury.Address{At: addr4.At, Salt: 2}}) {
		t.Errorf("%d graves, the first is %v", len(g), g[0])
	}
}

func TestMember(t *testing.T) {
	var l line
	links := app.Links{Transport: &l}
	m := app.NewMember(&links, netip.AddrPort{}, wire.Join{Role: wire.CellApp})
	m.Tick(0)
	m.Send(&wire.Freeze{})
	if l.dials != 0 || l.sends != 0 {
		t.Fatalf("without a manager: %d dials, %d sends", l.dials, l.sends)
	}
	m.Move(addr4.At)
	m.Tick(0)
	m.Tick(0)
	if l.dials != 1 || l.to != (mercury.Address{At: addr4.At}) {
		t.Fatalf("%d dials, to %v", l.dials, l.to)
	}
	if m.Opened(99) || !m.Opened(1) || !m.Is(1) || !m.Open() || wire.ID(l.last[0]) != wire.JoinID {
		t.Fatalf("on opening %x was sent", l.last)
	}
	m.Send(&wire.Report{})
	if wire.ID(l.last[0]) != wire.ReportID {
		t.Errorf("sent %x", l.last)
	}
	if m.Closed(time.Second, 99, nil) || !m.Closed(time.Second, 1, nil) || m.Open() || m.Is(1) {
		t.Error("the end of the channel was not noticed")
	}
	m.Tick(1900 * ms)
	if l.dials != 1 {
		t.Error("dialled again at once")
	}
	m.Tick(2 * time.Second)
	if l.dials != 2 {
		t.Error("not dialled again")
	}
	m.Move(addr6.At)
	if l.closes != 1 {
		t.Error("the channel to the manager's old place is left open")
	}
	m.Move(addr6.At)
	m.Tick(2 * time.Second)
	if l.dials != 3 || l.to.At != addr6.At || l.closes != 1 {
		t.Errorf("%d dials, to %v; %d closed", l.dials, l.to, l.closes)
	}
}
