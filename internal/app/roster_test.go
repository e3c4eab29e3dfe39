package app_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

func appAt(n int) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(n >> 8), byte(n)}), 9), Salt: 1}
}

func TestRoster(t *testing.T) {
	var r app.Roster
	if _, ok := r.Role(addr4); ok {
		t.Error("an empty roster names someone")
	}
	r.Add([]wire.AppRef{{Role: wire.CellApp, App: addr4}, {Role: wire.BaseApp, App: addr6}, {Role: wire.BaseApp, App: addr6}, {}})
	if role, ok := r.Role(addr6); !ok || role != wire.BaseApp || r.Len() != 2 {
		t.Errorf("%v %v, %d named", role, ok, r.Len())
	}
	other := addr4
	other.Salt++
	if _, ok := r.Role(other); ok {
		t.Error("another start is taken for the one that was named")
	}
	r.Remove(addr6)
	r.Remove(other)
	if _, ok := r.Role(addr6); ok || r.Len() != 1 {
		t.Error("who died is named")
	}
	for i := range wire.MaxMembers {
		r.Add([]wire.AppRef{{Role: wire.CellApp, App: appAt(i)}})
	}
	if _, ok := r.Role(addr4); ok || r.Len() != wire.MaxMembers {
		t.Errorf("%d named, the oldest among them: %v", r.Len(), ok)
	}
}

func TestDoor(t *testing.T) {
	var d app.Door
	for i := range 3 {
		for ch := range mercury.ChannelID(2) {
			if !d.Hold(time.Duration(i), ch+1, appAt(int(ch)), []byte{byte(i)}) {
				t.Fatal("no room")
			}
		}
	}
	var got []string
	d.Admit(appAt(1), func(ch mercury.ChannelID, msg []byte) { got = append(got, fmt.Sprint(ch, msg)) })
	if want := []string{"2 [0]", "2 [1]", "2 [2]"}; !slices.Equal(got, want) || d.Waits(2) || !d.Waits(1) {
		t.Errorf("admitted %v", got)
	}
	ended := func(now time.Duration) (n int) {
		d.Expire(now, func(ch mercury.ChannelID, from mercury.Address, messages int) {
			if ch != 1 || from != appAt(0) || messages != 3 {
				t.Errorf("channel %d of %v with %d", ch, from, messages)
			}
			n++
		})
		return n
	}
	if ended(app.NamingTime-1) != 0 || ended(app.NamingTime) != 1 || d.Waits(1) {
		t.Error("not ended in time")
	}
}

// Whoever speaks without being named cannot make an app keep more than its share.
func TestDoorBounds(t *testing.T) {
	var d app.Door
	big := make([]byte, 1<<20)
	held := 0
	for ch := mercury.ChannelID(1); ch <= 100; ch++ {
		if d.Hold(0, ch, appAt(int(ch)), big) {
			held++
		}
	}
	if held >= app.MaxDoor/len(big) || held < app.MaxDoor/len(big)-2 {
		t.Errorf("%d MB held", held)
	}
	d = app.Door{}
	n := 0
	for d.Hold(0, 1, addr4, big[:1000]) {
		n++
	}
	if n*1000 > app.MaxDoorChannel || n < app.MaxDoorChannel/1100 || d.Waits(1) {
		t.Errorf("%d KB of one channel", n)
	}
	d = app.Door{}
	for ch := mercury.ChannelID(1); ch <= app.MaxDoorChannels; ch++ {
		if !d.Hold(0, ch, addr4, nil) {
			t.Fatal("no room")
		}
	}
	if d.Hold(0, 9999, addr4, nil) {
		t.Error("too many channels")
	}
	d.Closed(1)
	if !d.Hold(0, 9999, addr4, nil) {
		t.Error("no room after one has gone")
	}
}

// Closed knows where a channel led that has ended, once.
func TestLinksClosed(t *testing.T) {
	var l line
	links := app.Links{Transport: &l}
	_ = links.Send(addr6, &wire.Freeze{})
	ch := mercury.ChannelID(l.dials)
	if _, ok := links.Closed(0, ch+1, nil); ok {
		t.Error("another channel led there")
	}
	if app, ok := links.Closed(0, ch, nil); !ok || app != addr6 {
		t.Errorf("%v %v", app, ok)
	}
	if _, ok := links.Closed(0, ch, nil); ok {
		t.Error("ended twice")
	}
}
