package app_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// narrow is a transport whose channels take limit bytes until the test drains them.
type narrow struct {
	line
	limit  int
	chans  map[mercury.Address]mercury.ChannelID
	ended  map[mercury.ChannelID]bool
	queued map[mercury.ChannelID]int
	// longest is the longest message; 0 for any.
	longest int
	got     map[mercury.ChannelID][]string
}

func newNarrow(limit int) *narrow {
	return &narrow{limit: limit, chans: map[mercury.Address]mercury.ChannelID{}, ended: map[mercury.ChannelID]bool{},
		queued: map[mercury.ChannelID]int{}, got: map[mercury.ChannelID][]string{}}
}

func (n *narrow) Dial(to mercury.Address) mercury.ChannelID {
	if ch, ok := n.chans[to]; ok && !n.ended[ch] {
		return ch
	}
	n.dials++
	n.chans[to] = mercury.ChannelID(n.dials)
	return n.chans[to]
}

func (n *narrow) Send(ch mercury.ChannelID, msg []byte) error {
	switch {
	case n.ended[ch]:
		return mercury.ErrNoChannel
	case n.longest > 0 && len(msg) > n.longest:
		return mercury.ErrMessageTooLong
	case n.queued[ch]+len(msg) > n.limit:
		return mercury.ErrFull
	}
	n.queued[ch] += len(msg)
	n.got[ch] = append(n.got[ch], string(msg))
	return nil
}

func (n *narrow) Queued(ch mercury.ChannelID) (bytes, limit int) { return n.queued[ch], n.limit }

func (n *narrow) Peer(ch mercury.ChannelID) (mercury.Address, bool) { return addr6, !n.ended[ch] }

// say is a message of some bytes that tells which one it is.
func say(i, size int) wire.Message {
	return &wire.Refused{Reason: string(rune('a'+i%26)) + strings.Repeat(".", size)}
}

func said(msgs []string) (s string) {
	for _, m := range msgs {
		var r wire.Refused
		if r.Parse([]byte(m[1:])) == nil {
			s += r.Reason[:1]
		}
	}
	return s
}

// What a full channel has no room for is held and follows in order, whoever sends meanwhile and in
// whichever way.
func TestFullChannelKeepsOrder(t *testing.T) {
	n := newNarrow(1000)
	links := app.Links{Transport: n}
	ch := n.Dial(addr4)
	now := time.Duration(0)
	for i := range 20 {
		var err error
		if i%3 == 0 {
			err = links.Reply(ch, say(i, 150-i)) // later ones are shorter, and would fit
		} else {
			err = links.Send(addr4, say(i, 150-i))
		}
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	links.Send(addr6, say(0, 10)) // another way is free
	if got := said(n.got[n.chans[addr6]]); got != "a" {
		t.Errorf("to another app went %q", got)
	}
	for range 10 {
		n.queued[ch] = max(0, n.queued[ch]-400)
		now += 100 * ms
		links.Tick(now)
	}
	if got := said(n.got[ch]); got != "abcdefghijklmnopqrst" {
		t.Errorf("sent %q", got)
	}
	if len(links.Errors) != 0 {
		t.Errorf("errors %v", links.Errors)
	}
}

// A way has levels, which count what is held; the worst is told with its name.
func TestLevels(t *testing.T) {
	n := newNarrow(1000)
	links := app.Links{Transport: n}
	if l := links.Level(addr4); l != mercury.Free {
		t.Errorf("nobody was sent anything, and it is %v", l)
	}
	links.Send(addr6, say(0, 10))
	for i, want := range []mercury.Level{mercury.Free, mercury.Free, mercury.High, mercury.High, mercury.Packed, mercury.Packed, mercury.Packed, mercury.Packed, mercury.Packed, mercury.Packed} {
		links.Send(addr4, say(i, 117)) // 120 bytes
		if l := links.Level(addr4); l != want {
			t.Errorf("%d bytes: level %d", 120*(i+1), l)
		}
	}
	links.Tick(0)
	w := links.Worst()
	if w.To != addr4 || w.Level() != mercury.Packed || w.Bytes <= 1000 || w.Held == 0 {
		t.Errorf("worst is %+v", w)
	}
	n.queued[n.chans[addr4]] = 0
	links.Tick(0)
	n.queued[n.chans[addr4]] = 0
	links.Tick(0)
	if w := links.Worst(); w != (wire.Backlog{}) {
		t.Errorf("worst is %+v", w)
	}
}

// What is held is bounded, shares the fate of its channel, and is gone with the dead; each error is
// counted by its reason.
func TestHeldIsBounded(t *testing.T) {
	n := newNarrow(1000)
	var log bytes.Buffer
	links := app.Links{Transport: n, Log: slog.New(slog.NewTextHandler(&log, nil))}
	refused := uint64(0)
	for i := range 100 {
		if links.Send(addr4, say(i, 117)) != nil {
			refused++
		}
	}
	if want := uint64(100 - 1000/120 - app.MaxHeld*1000/120); refused != want {
		t.Errorf("%d refused, want %d", refused, want)
	}
	if got := strings.Count(log.String(), "\n"); got != 1 {
		t.Errorf("%d log lines in one moment:\n%s", got, &log)
	}
	n.ended[n.chans[addr4]] = true
	links.Send(addr4, say(0, 10)) // on a new channel
	links.Tick(time.Second)
	want := wire.SendErrors{{Reason: wire.SendLost, ID: wire.RefusedID, Count: 100 - refused - 8}, {Reason: wire.SendFull, ID: wire.RefusedID, Count: refused}}
	if !slices.Equal(links.Errors, want) || links.Errors.Faults() != refused {
		t.Errorf("errors %v, want %v", links.Errors, want)
	}
	if got := said(n.got[n.chans[addr4]]); got != "a" {
		t.Errorf("on the new channel %q", got)
	}
	for i := range 20 {
		links.Send(addr4, say(i, 117))
	}
	links.Bury(wire.CellApp, addr4)
	links.Tick(2 * time.Second)
	if links.Level(addr4) != mercury.Free || !slices.Equal(links.Errors, want) {
		t.Errorf("the dead leave %v", links.Errors)
	}
}

// What is longer than any message comes back to whoever sends it, and is counted as kept. What fits
// in the empty channel, and not in the full one, waits, and goes.
func TestSendWhole(t *testing.T) {
	n := newNarrow(1000)
	n.longest = 900
	links := app.Links{Transport: n}
	if err := links.SendWhole(addr4, say(0, 900)); !errors.Is(err, mercury.ErrMessageTooLong) {
		t.Errorf("too long: %v", err)
	}
	links.Send(addr4, say(1, 500))
	if err := links.SendWhole(addr4, say(2, 800)); err != nil {
		t.Errorf("it would fit in the empty channel: %v", err)
	}
	for _, size := range []int{900, 10} {
		if err := links.SendWhole(addr4, say(3, size)); !errors.Is(err, mercury.ErrFull) {
			t.Errorf("%d bytes behind one that is held: %v", size, err)
		}
	}
	links.Tick(time.Second)
	if got := said(n.got[n.chans[addr4]]); got != "b" {
		t.Errorf("sent %q", got)
	}
	n.queued[n.chans[addr4]] = 0
	if err := links.SendWhole(addr4, say(3, 10)); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if got := said(n.got[n.chans[addr4]]); got != "bcd" {
		t.Errorf("then sent %q", got)
	}
	if err := links.SendWhole(addr4, say(3, 900)); !errors.Is(err, mercury.ErrMessageTooLong) {
		t.Errorf("too long: %v", err)
	}
	want := wire.SendErrors{{Reason: wire.SendKept, ID: wire.RefusedID, Count: 2}}
	if !slices.Equal(links.Errors, want) || links.Errors.Faults() != 0 {
		t.Errorf("errors %v, want %v", links.Errors, want)
	}
	links.Bury(wire.CellApp, addr4)
	if err := links.SendWhole(addr4, say(4, 900)); err != nil {
		t.Errorf("nothing is kept for the dead, since their verdict is the answer: %v", err)
	}
}
