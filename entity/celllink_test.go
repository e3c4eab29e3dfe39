package entity

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

func appAt(n byte) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 20000), Salt: uint32(n)}
}

var appX, appY, appZ = appAt(1), appAt(2), appAt(3)

// linkAt is a link driven to a state: its real is or was at order 1/3 on X.
func linkAt(t *testing.T, s LinkState) *CellLink {
	t.Helper()
	l := new(CellLink)
	if s == LinkNone {
		return l
	}
	if err := l.Create(0, CellCopy{Space: 1, Parts: []byte("first")}); err != nil {
		t.Fatal(err)
	}
	if !l.Step(0) {
		t.Fatal("a new link does not ask for a CellApp")
	}
	if s == LinkLocating {
		return l
	}
	if !l.Located(0, appX) {
		t.Fatal("the CellApp was not taken")
	}
	if s == LinkCreating {
		return l
	}
	if v := l.Current(0, appX, Order{1, 0}, 0); v != CurrentMoved {
		t.Fatalf("first Current: %v", v)
	}
	if v := l.Current(0, appX, Order{1, 3}, 0); v != CurrentMoved {
		t.Fatalf("Current of a newer order: %v", v)
	}
	if s == LinkLost && !l.AppDead(0, appX) {
		t.Fatal("the death was not noticed")
	}
	if l.State() != s {
		t.Fatalf("state %v, want %v", l.State(), s)
	}
	return l
}

func (l *CellLink) say(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, err := l.Out.Add(0, []byte("m")); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *CellLink) unreceived() (numbers []uint64) {
	l.Out.Each(0, func(n uint64, _ []byte) { numbers = append(numbers, n) })
	return numbers
}

func wantState(t *testing.T, l *CellLink, s LinkState, o Order, app mercury.Address) {
	t.Helper()
	if l.State() != s || l.Order() != o || l.App() != app {
		t.Errorf("link is %v at %v on %v, want %v at %v on %v", l.State(), l.Order(), l.App(), s, o, app)
	}
}

var nowhere mercury.Address

func TestCellLinkCreatesFromTheFirstState(t *testing.T) {
	l := linkAt(t, LinkLocating)
	wantState(t, l, LinkLocating, Order{1, 0}, nowhere)
	if c := l.Copy(); c.Restored || c.Handled != 0 || string(c.Parts) != "first" {
		t.Errorf("copy %+v", c)
	}
	if !l.Located(0, appX) {
		t.Fatal("not created")
	}
	wantState(t, l, LinkCreating, Order{1, 0}, appX)
	l.Current(0, appX, Order{1, 0}, 0)
	wantState(t, l, LinkLive, Order{1, 0}, appX)
}

func TestCellLinkAsksAgainEachSecondUntilLocated(t *testing.T) {
	l := linkAt(t, LinkLocating)
	for i := range 3 {
		at := time.Duration(i) * LocateRetry
		if l.Step(at + LocateRetry - 1) {
			t.Errorf("asked again too early after %v", at)
		}
		if !l.Step(at + LocateRetry) {
			t.Errorf("did not ask again after %v", at)
		}
	}
	if l.Located(0, nowhere) {
		t.Error("created nowhere")
	}
	wantState(t, l, LinkLocating, Order{1, 0}, nowhere)
}

func TestCellLinkIgnoresALateOrDoubledLocated(t *testing.T) {
	for _, s := range []LinkState{LinkNone, LinkCreating, LinkLive, LinkLost} {
		l := linkAt(t, s)
		if l.Located(0, appY) || l.State() != s {
			t.Errorf("%v: a Located made a second real", s)
		}
	}
}

func TestCellLinkBeginsTheNextIncarnationWhenCreationIsSilent(t *testing.T) {
	l := linkAt(t, LinkCreating)
	if l.Step(CreateTimeout - 1) {
		t.Fatal("gave up too early")
	}
	if !l.Step(CreateTimeout) {
		t.Fatal("did not ask again")
	}
	wantState(t, l, LinkLocating, Order{2, 0}, nowhere)
	if v := l.Current(CreateTimeout, appX, Order{1, 0}, 0); v != CurrentRefused {
		t.Errorf("the late first real: %v", v)
	}
	l.Located(CreateTimeout, appY)
	if v := l.Current(CreateTimeout, appX, Order{1, 4}, 0); v != CurrentRefused {
		t.Errorf("the late first real, moved on: %v", v)
	}
	if v := l.Current(CreateTimeout, appY, Order{2, 0}, 0); v != CurrentMoved {
		t.Errorf("the second real: %v", v)
	}
}

func TestCellLinkCurrent(t *testing.T) {
	tests := []struct {
		name  string
		in    LinkState
		from  mercury.Address
		order Order
		want  CurrentVerdict
		state LinkState
	}{
		{"doubled", LinkLive, appX, Order{1, 3}, CurrentKnown, LinkLive},
		{"late, of an older hop", LinkLive, appY, Order{1, 2}, CurrentRefused, LinkLive},
		{"of a newer hop", LinkLive, appY, Order{1, 4}, CurrentMoved, LinkLive},
		{"of a newer hop, hops skipped", LinkLive, appY, Order{1, 9}, CurrentMoved, LinkLive},
		{"of the same order elsewhere", LinkLive, appY, Order{1, 3}, CurrentRefused, LinkLive},
		{"of an incarnation never begun", LinkLive, appY, Order{2, 0}, CurrentRefused, LinkLive},
		{"a newer hop overtakes the first", LinkCreating, appY, Order{1, 1}, CurrentMoved, LinkLive},
		{"of the order being made, elsewhere", LinkCreating, appY, Order{1, 0}, CurrentRefused, LinkCreating},
		{"of the order that died", LinkLost, appY, Order{1, 3}, CurrentRefused, LinkLost},
		{"older than what died", LinkLost, appY, Order{1, 2}, CurrentRefused, LinkLost},
		{"of a real that went on", LinkLost, appY, Order{1, 4}, CurrentMoved, LinkLive},
		{"before anything was made", LinkLocating, appY, Order{1, 0}, CurrentRefused, LinkLocating},
		{"without a cell part", LinkNone, appY, Order{1, 3}, CurrentRefused, LinkNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := linkAt(t, tt.in)
			if got := l.Current(0, tt.from, tt.order, 0); got != tt.want {
				t.Errorf("verdict %v, want %v", got, tt.want)
			}
			if l.State() != tt.state {
				t.Errorf("state %v, want %v", l.State(), tt.state)
			}
			if tt.want == CurrentMoved && (l.Order() != tt.order || l.App() != tt.from) {
				t.Errorf("live at %v on %v", l.Order(), l.App())
			}
		})
	}
}

func TestCellLinkMoveResendsExactlyWhatWasNotHandled(t *testing.T) {
	l := linkAt(t, LinkLive)
	l.say(t, 5)
	l.Current(0, appY, Order{1, 4}, 3)
	if got := fmt.Sprint(l.unreceived()); got != "[4 5]" {
		t.Errorf("sent again: %v", got)
	}
}

func TestCellLinkRestoresAfterTheGrace(t *testing.T) {
	l := linkAt(t, LinkLive)
	l.say(t, 5)
	l.Backup(0, CellCopy{Order: Order{1, 3}, Saves: 1, Handled: 2, Space: 7, Parts: []byte("backup")})
	l.Out.Received(0, 4)
	if !l.AppDead(time.Second, appX) {
		t.Fatal("the death was not noticed")
	}
	wantState(t, l, LinkLost, Order{1, 3}, nowhere)
	if l.Step(time.Second + OfferGrace - 1) {
		t.Fatal("did not wait for offers")
	}
	if !l.Step(time.Second + OfferGrace) {
		t.Fatal("did not ask for a CellApp")
	}
	wantState(t, l, LinkLocating, Order{2, 0}, nowhere)
	if c := l.Copy(); !c.Restored || c.Handled != 2 || c.Space != 7 || string(c.Parts) != "backup" {
		t.Errorf("restores from %+v", c)
	}
	l.Located(time.Second, appY)
	l.Current(time.Second, appY, Order{2, 0}, 2)
	if got := fmt.Sprint(l.unreceived()); got != "[3 4 5]" {
		t.Errorf("replayed: %v; acknowledged but not backed up must be replayed, too", got)
	}
	if l.In.Stream() != 2 || l.In.Last() != 0 {
		t.Errorf("the flow from the cell part goes on in stream %d at %d", l.In.Stream(), l.In.Last())
	}
}

func TestCellLinkAppDead(t *testing.T) {
	for _, tt := range []struct {
		in   LinkState
		app  mercury.Address
		lost bool
	}{
		{LinkNone, appX, false}, {LinkLocating, appX, false}, {LinkCreating, appX, true}, {LinkCreating, appY, false},
		{LinkLive, appX, true}, {LinkLive, appY, false}, {LinkLost, appX, false},
	} {
		l := linkAt(t, tt.in)
		if got := l.AppDead(0, tt.app); got != tt.lost || (l.State() == LinkLost) != (tt.lost || tt.in == LinkLost) {
			t.Errorf("%v, death of %v: %v, now %v", tt.in, tt.app, got, l.State())
		}
	}
}

func TestCellLinkBackup(t *testing.T) {
	base := CellCopy{Order: Order{1, 3}, Saves: 5, Handled: 2, Parts: []byte("base")}
	for _, tt := range []struct {
		name string
		c    CellCopy
		keep bool
	}{
		{"doubled", base, false},
		{"more saves", CellCopy{Order: Order{1, 3}, Saves: 6, Handled: 3}, true},
		{"fewer saves", CellCopy{Order: Order{1, 3}, Saves: 4, Handled: 3}, false},
		{"newer hop", CellCopy{Order: Order{1, 4}, Saves: 5, Handled: 3}, true},
		{"older hop with more saves", CellCopy{Order: Order{1, 2}, Saves: 9, Handled: 3}, false},
		{"another incarnation", CellCopy{Order: Order{2, 0}, Saves: 9, Handled: 3}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := linkAt(t, LinkLive)
			l.say(t, 4)
			if !l.Backup(0, base) {
				t.Fatal("the first backup was not kept")
			}
			if got := l.Backup(0, tt.c); got != tt.keep {
				t.Errorf("kept %v", got)
			}
			want := uint64(3)
			if tt.keep {
				want = 4
			}
			if l.Out.Low() != want {
				t.Errorf("messages are kept from %d, want %d", l.Out.Low(), want)
			}
		})
	}
}

func TestCellLinkBackupIsACopy(t *testing.T) {
	l := linkAt(t, LinkLive)
	parts := []byte("backup")
	l.Backup(0, CellCopy{Order: Order{1, 3}, Saves: 1, Parts: parts})
	copy(parts, "xxxxxx")
	if got := string(l.Copy().Parts); got != "backup" {
		t.Errorf("the backup changed to %q with the buffer it came in", got)
	}
}

func TestCellLinkOffer(t *testing.T) {
	tests := []struct {
		name       string
		in         LinkState
		order      Order
		kept, lost bool
		state      LinkState
	}{
		{"the handed-on real died", LinkLive, Order{1, 4}, true, true, LinkLost},
		{"the real went on", LinkLive, Order{1, 3}, true, false, LinkLive},
		{"before the first Current", LinkCreating, Order{1, 3}, true, true, LinkLost},
		{"in the grace", LinkLost, Order{1, 4}, true, false, LinkLost},
		{"older than the backup", LinkLost, Order{1, 1}, false, false, LinkLost},
		{"of a life before", LinkLocating, Order{0, 9}, false, false, LinkLocating},
		{"of no life yet", LinkLive, Order{2, 1}, false, false, LinkLive},
		{"without a cell part", LinkNone, Order{1, 4}, false, false, LinkNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := linkAt(t, tt.in)
			l.say(t, 4)
			l.Backup(0, CellCopy{Order: Order{1, 2}, Saves: 1, Handled: 1})
			kept, lost := l.Offer(0, CellCopy{Order: tt.order, Handled: 3, Parts: []byte("offer")})
			if kept != tt.kept || lost != tt.lost || l.State() != tt.state {
				t.Errorf("kept %v, lost %v, now %v; want %v, %v, %v", kept, lost, l.State(), tt.kept, tt.lost, tt.state)
			}
			if (string(l.Copy().Parts) == "offer") != tt.kept {
				t.Errorf("the copy is %q", l.Copy().Parts)
			}
		})
	}
}

func TestCellLinkOfferDoubledIsKeptOnce(t *testing.T) {
	l := linkAt(t, LinkLive)
	c := CellCopy{Order: Order{1, 4}, Saves: 2}
	l.Offer(0, c)
	if kept, lost := l.Offer(0, c); kept || lost {
		t.Errorf("the second one: kept %v, lost %v", kept, lost)
	}
}

func TestCellLinkOfferWhileLocatingAgainIsUsed(t *testing.T) {
	l := linkAt(t, LinkLost)
	l.Step(OfferGrace)
	wantState(t, l, LinkLocating, Order{2, 0}, nowhere)
	if kept, _ := l.Offer(OfferGrace, CellCopy{Order: Order{1, 4}, Parts: []byte("offer")}); !kept {
		t.Fatal("dropped, though nothing has been made from the older copy yet")
	}
	if got := string(l.Copy().Parts); got != "offer" {
		t.Errorf("restores from %q", got)
	}
}

// What was handled of a real is not asked for again, however often it is restored from
// one copy, and whatever its restored lives have said meanwhile.
func TestCellLinkHeardOfTheCopy(t *testing.T) {
	l := linkAt(t, LinkLive)
	l.Offer(0, CellCopy{Order: Order{1, 4}, Space: 1, Parts: []byte("frozen")})
	l.In = NewIn(1, 9)
	for life := uint32(2); life < 5; life++ {
		l.AppDead(0, l.App())
		l.Step(time.Minute)
		if got := l.Heard(); got != 9 || l.Order().Incarnation != life {
			t.Fatalf("life %v is told that %d messages of the copy's were heard, want 9", l.Order(), got)
		}
		l.Located(0, appY)
		l.Current(0, appY, l.Order(), 0)
		l.In = NewIn(life, 3)
	}
}

func TestCellLinkOfferAfterTheNextIncarnationBeganIsTooLate(t *testing.T) {
	l := linkAt(t, LinkLive)
	l.say(t, 4)
	l.Out.Received(0, 4)
	l.AppDead(0, appX)
	l.Step(OfferGrace)
	l.Located(OfferGrace, appY)
	if kept, lost := l.Offer(OfferGrace, CellCopy{Order: Order{1, 4}, Handled: 4}); kept || lost {
		t.Errorf("kept %v, lost %v", kept, lost)
	}
	l.Current(OfferGrace, appY, Order{2, 0}, 0)
	if got := fmt.Sprint(l.unreceived()); got != "[1 2 3 4]" {
		t.Errorf("the new real gets %v, but it was made from a copy that contains none of them", got)
	}
}

func TestCellLinkOfferOfAnEarlierLifeIsNotRestored(t *testing.T) {
	l := linkAt(t, LinkLive)
	l.Gone(0)
	if err := l.Create(0, CellCopy{Space: 1, Parts: []byte("second life")}); err != nil {
		t.Fatal(err)
	}
	if kept, lost := l.Offer(0, CellCopy{Order: Order{1, 9}, Saves: 9, Parts: []byte("first life")}); kept || lost {
		t.Errorf("kept %v, lost %v", kept, lost)
	}
}

func TestCellLinkLost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    LinkState
		order Order
		want  bool
	}{
		{"the current order", LinkLive, Order{1, 3}, true},
		{"an older order", LinkLive, Order{1, 2}, false},
		{"a newer order, unheard of", LinkLive, Order{1, 4}, true},
		{"another incarnation", LinkLive, Order{2, 0}, false},
		{"the one being made", LinkCreating, Order{1, 0}, true},
		{"doubled", LinkLost, Order{1, 3}, false},
		{"without a cell part", LinkNone, Order{1, 3}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := linkAt(t, tt.in)
			if got := l.Lost(0, tt.order); got != tt.want {
				t.Fatalf("got %v", got)
			}
			if tt.want {
				wantState(t, l, LinkLost, tt.order, nowhere)
				if v := l.Current(0, appX, tt.order, 0); v != CurrentRefused {
					t.Errorf("a Current of the lost order, late: %v", v)
				}
			}
		})
	}
}

func TestCellLinkSecondLifeForgetsTheFirst(t *testing.T) {
	l := linkAt(t, LinkLive)
	l.say(t, 3)
	l.Gone(0)
	wantState(t, l, LinkNone, Order{1, 3}, nowhere)
	if l.Out.Kept() != 0 {
		t.Errorf("%d messages are kept for a cell part that is gone", l.Out.Kept())
	}
	if err := l.Create(0, CellCopy{Space: 1}); err != nil {
		t.Fatal(err)
	}
	wantState(t, l, LinkLocating, Order{2, 0}, nowhere)
	if c := l.Copy(); c.Handled != 3 || c.Restored {
		t.Errorf("the second life starts from %+v", c)
	}
	l.say(t, 1)
	l.Step(0)
	l.Located(0, appX)
	l.Current(0, appX, Order{2, 0}, 3)
	if got := fmt.Sprint(l.unreceived()); got != "[4]" {
		t.Errorf("it gets %v", got)
	}
}

func TestCellLinkLeave(t *testing.T) {
	for _, tt := range []struct {
		in    LinkState
		tell  bool
		err   error
		state LinkState
	}{
		{LinkNone, false, ErrNoPart, LinkNone}, {LinkLocating, false, nil, LinkNone}, {LinkCreating, true, nil, LinkCreating},
		{LinkLive, true, nil, LinkLive}, {LinkLost, false, nil, LinkNone},
	} {
		t.Run(tt.in.String(), func(t *testing.T) {
			l := linkAt(t, tt.in)
			tell, err := l.Leave(0)
			if tell != tt.tell || !errors.Is(err, tt.err) || l.State() != tt.state || l.Open() {
				t.Errorf("tell %v, %v, now %v, open %v", tell, err, l.State(), l.Open())
			}
			if _, err := l.Leave(0); !errors.Is(err, ErrNoPart) {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestCellLinkLeavingEndsWithALoss(t *testing.T) {
	for name, lose := range map[string]func(*CellLink){
		"death": func(l *CellLink) { l.AppDead(0, appX) },
		"offer": func(l *CellLink) { l.Offer(0, CellCopy{Order: Order{1, 4}}) },
		"lost":  func(l *CellLink) { l.Lost(0, Order{1, 3}) },
		"gone":  func(l *CellLink) { l.Gone(0) },
	} {
		l := linkAt(t, LinkLive)
		if _, err := l.Leave(0); err != nil {
			t.Fatal(err)
		}
		lose(l)
		if l.State() != LinkNone {
			t.Errorf("%s: %v; what is to be destroyed is not restored", name, l.State())
		}
		if v := l.Current(0, appZ, Order{1, 5}, 0); v != CurrentRefused {
			t.Errorf("%s: the real that went on: %v", name, v)
		}
	}
	l := linkAt(t, LinkCreating)
	if _, err := l.Leave(0); err != nil {
		t.Fatal(err)
	}
	if l.Step(CreateTimeout) || l.State() != LinkNone {
		t.Errorf("a creation that never answered: %v", l.State())
	}
}

func TestCellLinkCreateTwice(t *testing.T) {
	for _, s := range []LinkState{LinkLocating, LinkCreating, LinkLive, LinkLost} {
		if err := linkAt(t, s).Create(0, CellCopy{}); !errors.Is(err, ErrHasPart) {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// TestCellLinkInvariants drives links with random, also senseless, events and
// checks after each what the package promises.
func TestCellLinkInvariants(t *testing.T) {
	for seed := range uint64(200) {
		chance := rand.New(rand.NewPCG(seed, 7))
		l := new(CellLink)
		var now time.Duration
		apps := []mercury.Address{appX, appY, appZ}
		order := func() Order {
			o := Order{l.Order().Incarnation, l.Order().Hop + uint32(chance.IntN(4))}
			return Order{max(o.Incarnation+uint32(chance.IntN(3)), 1) - 1, o.Hop}
		}
		for step := range 300 {
			before, last := l.Order(), l.Out.Last()
			app := apps[chance.IntN(len(apps))]
			handled := uint64(chance.IntN(int(last) + 1))
			switch chance.IntN(11) {
			case 0:
				_ = l.Create(now, CellCopy{Space: 1})
			case 1, 2:
				l.Located(now, app)
			case 3, 4:
				o := order()
				switch v := l.Current(now, app, o, handled); {
				case v == CurrentRefused:
				case o.Before(before):
					t.Fatalf("seed %d step %d: %v at %v was taken after %v", seed, step, v, o, before)
				case l.State() != LinkLive || l.App() != app || l.Order() != o:
					t.Fatalf("seed %d step %d: %v, but live is %v at %v", seed, step, v, l.App(), l.Order())
				}
			case 5:
				l.AppDead(now, app)
			case 6:
				l.Backup(now, CellCopy{Order: order(), Saves: uint64(step), Handled: max(handled, l.Copy().Handled)})
			case 7:
				l.Offer(now, CellCopy{Order: order(), Saves: uint64(step), Handled: max(handled, l.Copy().Handled)})
			case 8:
				l.Lost(now, order())
			case 9:
				if chance.IntN(8) == 0 {
					_, _ = l.Leave(now)
				}
				if l.Open() {
					_, _ = l.Out.Add(now, []byte("m"))
				}
			case 10:
				now += time.Duration(chance.IntN(1000)) * time.Millisecond
				l.Step(now)
			}
			c := l.Copy()
			switch {
			case l.Order().Before(before):
				t.Fatalf("seed %d step %d: the order went back from %v to %v", seed, step, before, l.Order())
			case l.State() != LinkNone && l.Out.Low() > c.Handled+1:
				t.Fatalf("seed %d step %d: messages are kept from %d, the copy contains only up to %d", seed, step, l.Out.Low(), c.Handled)
			case (l.State() == LinkLive || l.State() == LinkCreating) == l.App().IsZero():
				t.Fatalf("seed %d step %d: %v on %v", seed, step, l.State(), l.App())
			case l.State() != LinkNone && c.Order.Incarnation == 0:
				t.Fatalf("seed %d step %d: %v without a copy", seed, step, l.State())
			case l.State() != LinkNone && l.In.Stream() != l.Order().Incarnation:
				t.Fatalf("seed %d step %d: flow of stream %d at %v", seed, step, l.In.Stream(), l.Order())
			}
		}
	}
}

// The end of a space is the end of a cell part that is to be made there, and of no other.
func TestNoSpace(t *testing.T) {
	var l CellLink
	if l.NoSpace(0) {
		t.Error("the end of no cell part")
	}
	if err := l.Create(0, CellCopy{Space: 7}); err != nil {
		t.Fatal(err)
	}
	if !l.NoSpace(0) || l.State() != LinkNone || l.NoSpace(0) {
		t.Errorf("the link is %v", l.State())
	}
	if err := l.Create(0, CellCopy{Space: 8}); err != nil {
		t.Fatal(err)
	}
	app := mercury.Address{Salt: 1}
	l.Located(0, app)
	if l.NoSpace(0) {
		t.Error("a late word ends what is being made")
	}
	l.Current(0, app, l.Order(), 0)
	if l.NoSpace(0) || l.State() != LinkLive {
		t.Error("a late word ends what lives")
	}
}
