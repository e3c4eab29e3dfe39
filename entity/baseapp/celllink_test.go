package baseapp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
)

// linkAt is a link driven to a state: its real is or was at order 1/3 on X.
func linkAt(t *testing.T, s linkState) *cellLink {
	t.Helper()
	l := new(cellLink)
	if s == linkNone {
		return l
	}
	if err := l.Create(0, cellCopy{Space: 1, Parts: []byte("first")}); err != nil {
		t.Fatal(err)
	}
	if !l.Step(0) {
		t.Fatal("a new link does not ask for a CellApp")
	}
	if s == linkLocating {
		return l
	}
	if !l.Located(0, appX) {
		t.Fatal("the CellApp was not taken")
	}
	if s == linkCreating {
		return l
	}
	if v := l.Current(0, appX, entity.Order{Incarnation: 1, Hop: 0}, 0); v != currentMoved {
		t.Fatalf("first Current: %v", v)
	}
	if v := l.Current(0, appX, entity.Order{Incarnation: 1, Hop: 3}, 0); v != currentMoved {
		t.Fatalf("Current of a newer order: %v", v)
	}
	if s == linkLost && !l.LostWith(0, appX) {
		t.Fatal("the death was not noticed")
	}
	if l.State() != s {
		t.Fatalf("state %v, want %v", l.State(), s)
	}
	return l
}

func (l *cellLink) say(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, err := l.out.Add(0, []byte("m")); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *cellLink) unreceived() (numbers []uint64) {
	l.out.Each(0, func(n uint64, _ []byte) { numbers = append(numbers, n) })
	return numbers
}

func wantState(t *testing.T, l *cellLink, s linkState, o entity.Order, app mercury.Address) {
	t.Helper()
	if l.State() != s || l.Order() != o || l.App() != app {
		t.Errorf("link is %v at %v on %v, want %v at %v on %v", l.State(), l.Order(), l.App(), s, o, app)
	}
}

func TestCellLinkCreatesFromTheFirstState(t *testing.T) {
	l := linkAt(t, linkLocating)
	wantState(t, l, linkLocating, entity.Order{Incarnation: 1, Hop: 0}, nowhere)
	if c := l.Copy(); c.Restored || c.Handled != 0 || string(c.Parts) != "first" {
		t.Errorf("copy %+v", c)
	}
	if !l.Located(0, appX) {
		t.Fatal("not created")
	}
	wantState(t, l, linkCreating, entity.Order{Incarnation: 1, Hop: 0}, appX)
	l.Current(0, appX, entity.Order{Incarnation: 1, Hop: 0}, 0)
	wantState(t, l, linkLive, entity.Order{Incarnation: 1, Hop: 0}, appX)
}

func TestCellLinkAsksAgainEachSecondUntilLocated(t *testing.T) {
	l := linkAt(t, linkLocating)
	for i := range 3 {
		at := time.Duration(i) * locateRetry
		if l.Step(at + locateRetry - 1) {
			t.Errorf("asked again too early after %v", at)
		}
		if !l.Step(at + locateRetry) {
			t.Errorf("did not ask again after %v", at)
		}
	}
	if l.Located(0, nowhere) {
		t.Error("created nowhere")
	}
	wantState(t, l, linkLocating, entity.Order{Incarnation: 1, Hop: 0}, nowhere)
}

func TestCellLinkIgnoresALateOrDoubledLocated(t *testing.T) {
	for _, s := range []linkState{linkNone, linkCreating, linkLive, linkLost} {
		l := linkAt(t, s)
		if l.Located(0, appY) || l.State() != s {
			t.Errorf("%v: a Located made a second real", s)
		}
	}
}

func TestCellLinkBeginsTheNextIncarnationWhenCreationIsLost(t *testing.T) {
	l := linkAt(t, linkCreating)
	if l.Overdue(createTimeout - 1) {
		t.Fatal("asks too early")
	}
	if !l.Overdue(createTimeout) || l.Step(createTimeout) || l.State() != linkCreating {
		t.Fatal("a CellApp that is only slow is not asked")
	}
	if !l.Lost(createTimeout-offerGrace, entity.Order{Incarnation: 1}) || !l.Step(createTimeout) {
		t.Fatal("another one is not made")
	}
	wantState(t, l, linkLocating, entity.Order{Incarnation: 2, Hop: 0}, nowhere)
	if v := l.Current(createTimeout, appX, entity.Order{Incarnation: 1, Hop: 0}, 0); v != currentRefused {
		t.Errorf("the late first real: %v", v)
	}
	l.Located(createTimeout, appY)
	if v := l.Current(createTimeout, appX, entity.Order{Incarnation: 1, Hop: 4}, 0); v != currentRefused {
		t.Errorf("the late first real, moved on: %v", v)
	}
	if v := l.Current(createTimeout, appY, entity.Order{Incarnation: 2, Hop: 0}, 0); v != currentMoved {
		t.Errorf("the second real: %v", v)
	}
}

func TestCellLinkCurrent(t *testing.T) {
	tests := []struct {
		name  string
		in    linkState
		from  mercury.Address
		order entity.Order
		want  currentVerdict
		state linkState
	}{
		{"doubled", linkLive, appX, entity.Order{Incarnation: 1, Hop: 3}, currentKnown, linkLive},
		{"late, of an older hop", linkLive, appY, entity.Order{Incarnation: 1, Hop: 2}, currentRefused, linkLive},
		{"of a newer hop", linkLive, appY, entity.Order{Incarnation: 1, Hop: 4}, currentMoved, linkLive},
		{"of a newer hop, hops skipped", linkLive, appY, entity.Order{Incarnation: 1, Hop: 9}, currentMoved, linkLive},
		{"of the same order elsewhere", linkLive, appY, entity.Order{Incarnation: 1, Hop: 3}, currentRefused, linkLive},
		{"of an incarnation never begun", linkLive, appY, entity.Order{Incarnation: 2, Hop: 0}, currentRefused, linkLive},
		{"a newer hop overtakes the first", linkCreating, appY, entity.Order{Incarnation: 1, Hop: 1}, currentMoved, linkLive},
		{"of the order being made, elsewhere", linkCreating, appY, entity.Order{Incarnation: 1, Hop: 0}, currentRefused, linkCreating},
		{"of the order that died", linkLost, appY, entity.Order{Incarnation: 1, Hop: 3}, currentRefused, linkLost},
		{"older than what died", linkLost, appY, entity.Order{Incarnation: 1, Hop: 2}, currentRefused, linkLost},
		{"of a real that went on", linkLost, appY, entity.Order{Incarnation: 1, Hop: 4}, currentMoved, linkLive},
		{"before anything was made", linkLocating, appY, entity.Order{Incarnation: 1, Hop: 0}, currentRefused, linkLocating},
		{"without a cell part", linkNone, appY, entity.Order{Incarnation: 1, Hop: 3}, currentRefused, linkNone},
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
			if tt.want == currentMoved && (l.Order() != tt.order || l.App() != tt.from) {
				t.Errorf("live at %v on %v", l.Order(), l.App())
			}
		})
	}
}

func TestCellLinkMoveResendsExactlyWhatWasNotHandled(t *testing.T) {
	l := linkAt(t, linkLive)
	l.say(t, 5)
	l.Current(0, appY, entity.Order{Incarnation: 1, Hop: 4}, 3)
	if got := fmt.Sprint(l.unreceived()); got != "[4 5]" {
		t.Errorf("sent again: %v", got)
	}
}

func TestCellLinkRestoresAfterTheGrace(t *testing.T) {
	l := linkAt(t, linkLive)
	l.say(t, 5)
	l.Backup(0, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 3}, Saves: 1, Handled: 2, Space: 7, Parts: []byte("backup")})
	l.out.Received(0, 4)
	if !l.LostWith(time.Second, appX) {
		t.Fatal("the death was not noticed")
	}
	wantState(t, l, linkLost, entity.Order{Incarnation: 1, Hop: 3}, nowhere)
	if l.Step(time.Second + offerGrace - 1) {
		t.Fatal("did not wait for offers")
	}
	if !l.Step(time.Second + offerGrace) {
		t.Fatal("did not ask for a CellApp")
	}
	wantState(t, l, linkLocating, entity.Order{Incarnation: 2, Hop: 0}, nowhere)
	if c := l.Copy(); !c.Restored || c.Handled != 2 || c.Space != 7 || string(c.Parts) != "backup" {
		t.Errorf("restores from %+v", c)
	}
	l.Located(time.Second, appY)
	l.Current(time.Second, appY, entity.Order{Incarnation: 2, Hop: 0}, 2)
	if got := fmt.Sprint(l.unreceived()); got != "[3 4 5]" {
		t.Errorf("replayed: %v; acknowledged but not backed up must be replayed, too", got)
	}
	if l.in.Incarnation() != 2 || l.in.Last() != 0 {
		t.Errorf("the flow from the cell part goes on in stream %d at %d", l.in.Incarnation(), l.in.Last())
	}
}

func TestCellLinkLostWith(t *testing.T) {
	for _, tt := range []struct {
		in   linkState
		app  mercury.Address
		lost bool
	}{
		{linkNone, appX, false}, {linkLocating, appX, false}, {linkCreating, appX, true}, {linkCreating, appY, false},
		{linkLive, appX, true}, {linkLive, appY, false}, {linkLost, appX, false},
	} {
		l := linkAt(t, tt.in)
		if got := l.LostWith(0, tt.app); got != tt.lost || (l.State() == linkLost) != (tt.lost || tt.in == linkLost) {
			t.Errorf("%v, death of %v: %v, now %v", tt.in, tt.app, got, l.State())
		}
	}
}

func TestCellLinkBackup(t *testing.T) {
	base := cellCopy{Order: entity.Order{Incarnation: 1, Hop: 3}, Saves: 5, Handled: 2, Parts: []byte("base")}
	for _, tt := range []struct {
		name string
		c    cellCopy
		keep bool
	}{
		{"doubled", base, false},
		{"more saves", cellCopy{Order: entity.Order{Incarnation: 1, Hop: 3}, Saves: 6, Handled: 3}, true},
		{"fewer saves", cellCopy{Order: entity.Order{Incarnation: 1, Hop: 3}, Saves: 4, Handled: 3}, false},
		{"newer hop", cellCopy{Order: entity.Order{Incarnation: 1, Hop: 4}, Saves: 5, Handled: 3}, true},
		{"older hop with more saves", cellCopy{Order: entity.Order{Incarnation: 1, Hop: 2}, Saves: 9, Handled: 3}, false},
		{"another incarnation", cellCopy{Order: entity.Order{Incarnation: 2, Hop: 0}, Saves: 9, Handled: 3}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := linkAt(t, linkLive)
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
			if l.out.Low() != want {
				t.Errorf("messages are kept from %d, want %d", l.out.Low(), want)
			}
		})
	}
}

func TestCellLinkBackupIsACopy(t *testing.T) {
	l := linkAt(t, linkLive)
	parts := []byte("backup")
	l.Backup(0, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 3}, Saves: 1, Parts: parts})
	copy(parts, "xxxxxx")
	if got := string(l.Copy().Parts); got != "backup" {
		t.Errorf("the backup changed to %q with the buffer it came in", got)
	}
}

func TestCellLinkOffer(t *testing.T) {
	tests := []struct {
		name       string
		in         linkState
		order      entity.Order
		kept, lost bool
		state      linkState
	}{
		{"the handed-on real died", linkLive, entity.Order{Incarnation: 1, Hop: 4}, true, true, linkLost},
		{"the real went on", linkLive, entity.Order{Incarnation: 1, Hop: 3}, true, false, linkLive},
		{"before the first Current", linkCreating, entity.Order{Incarnation: 1, Hop: 3}, true, true, linkLost},
		{"in the grace", linkLost, entity.Order{Incarnation: 1, Hop: 4}, true, false, linkLost},
		{"older than the backup", linkLost, entity.Order{Incarnation: 1, Hop: 1}, false, false, linkLost},
		{"of a life before", linkLocating, entity.Order{Incarnation: 0, Hop: 9}, false, false, linkLocating},
		{"of no life yet", linkLive, entity.Order{Incarnation: 2, Hop: 1}, false, false, linkLive},
		{"without a cell part", linkNone, entity.Order{Incarnation: 1, Hop: 4}, false, false, linkNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := linkAt(t, tt.in)
			l.say(t, 4)
			l.Backup(0, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 2}, Saves: 1, Handled: 1})
			kept, lost := l.Offer(0, cellCopy{Order: tt.order, Handled: 3, Parts: []byte("offer")})
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
	l := linkAt(t, linkLive)
	c := cellCopy{Order: entity.Order{Incarnation: 1, Hop: 4}, Saves: 2}
	l.Offer(0, c)
	if kept, lost := l.Offer(0, c); kept || lost {
		t.Errorf("the second one: kept %v, lost %v", kept, lost)
	}
}

func TestCellLinkOfferWhileLocatingAgainIsUsed(t *testing.T) {
	l := linkAt(t, linkLost)
	l.Step(offerGrace)
	wantState(t, l, linkLocating, entity.Order{Incarnation: 2, Hop: 0}, nowhere)
	if kept, _ := l.Offer(offerGrace, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 4}, Parts: []byte("offer")}); !kept {
		t.Fatal("dropped, though nothing has been made from the older copy yet")
	}
	if got := string(l.Copy().Parts); got != "offer" {
		t.Errorf("restores from %q", got)
	}
}

// What was handled of a real is not asked for again, however often it is restored from one copy,
// and whatever its restored lives have said meanwhile.
func TestCellLinkHeardOfTheCopy(t *testing.T) {
	l := linkAt(t, linkLive)
	l.Offer(0, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 4}, Space: 1, Parts: []byte("frozen")})
	l.in = flow.NewReceiver(1, 9)
	for life := uint32(2); life < 5; life++ {
		l.LostWith(0, l.App())
		l.Step(time.Minute)
		if got := l.Heard(); got != 9 || l.Order().Incarnation != life {
			t.Fatalf("life %v is told that %d messages of the copy's were heard, want 9", l.Order(), got)
		}
		l.Located(0, appY)
		l.Current(0, appY, l.Order(), 0)
		l.in = flow.NewReceiver(life, 3)
	}
}

// That holds also for a restored base, which finds that its former life had begun further incarnations.
func TestCellLinkHeardBeforeAdopting(t *testing.T) {
	l := linkAt(t, linkLive)
	l.Offer(0, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 4}, Space: 1, Parts: []byte("frozen")})
	l.in = flow.NewReceiver(1, 9)
	l.LostWith(0, l.App())
	l.Step(time.Minute) // it begins the second one, of which it hears nothing
	for life := uint32(3); life < 6; life++ {
		l.state = linkAdopting
		if v := l.Current(0, appY, entity.Order{Incarnation: life}, 0); v != currentMoved {
			t.Fatal(v)
		}
		if got := l.Heard(); got != 9 {
			t.Fatalf("after adopting life %d it is known that %d messages of the copy's were heard, want 9", life, got)
		}
	}
}

// A client has been shown an incarnation that the former life of the base began, so one before it was ended.
func TestCellLinkShown(t *testing.T) {
	restored := func() *cellLink {
		l := linkAt(t, linkLive)
		l.revive(0, 0, 1, adoptGap)
		return l
	}
	l := restored()
	if l.Shown(0, 3) || l.State() != linkAdopting {
		t.Errorf("it is %v: nobody has said where it is", l.State())
	}
	if v := l.Current(0, appY, entity.Order{Incarnation: 3}, 0); v != currentMoved || l.Shown(0, 3) || l.State() != linkLive {
		t.Errorf("the one that was shown is not adopted: %d", v)
	}

	l = restored()
	l.Current(0, appX, entity.Order{Incarnation: 1, Hop: 9}, 0)
	if !l.Shown(0, 3) || l.State() != linkLost {
		t.Errorf("it is %v", l.State())
	}
	l.Step(time.Minute)
	if got := l.Order().Incarnation; got <= 3+1 || l.State() != linkLocating {
		t.Errorf("incarnation %d begins, %v", got, l.State())
	}

	for name, n := range map[string]uint32{"the same": 1, "an older one": 0, "one that no life can have begun": 2 + adoptGap} {
		l := restored()
		l.Current(0, appX, entity.Order{Incarnation: 1, Hop: 9}, 0)
		if l.Shown(0, n) || l.State() != linkLive {
			t.Errorf("%s makes it %v", name, l.State())
		}
	}
	if l := linkAt(t, linkLive); l.Shown(0, 2) || l.State() != linkLive {
		t.Error("a base that was not restored believes a client")
	}
}

func TestCellLinkOfferAfterTheNextIncarnationBeganIsTooLate(t *testing.T) {
	l := linkAt(t, linkLive)
	l.say(t, 4)
	l.out.Received(0, 4)
	l.LostWith(0, appX)
	l.Step(offerGrace)
	l.Located(offerGrace, appY)
	if kept, lost := l.Offer(offerGrace, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 4}, Handled: 4}); kept || lost {
		t.Errorf("kept %v, lost %v", kept, lost)
	}
	l.Current(offerGrace, appY, entity.Order{Incarnation: 2, Hop: 0}, 0)
	if got := fmt.Sprint(l.unreceived()); got != "[1 2 3 4]" {
		t.Errorf("the new real gets %v, but it was made from a copy that contains none of them", got)
	}
}

func TestCellLinkOfferOfAnEarlierLifeIsNotRestored(t *testing.T) {
	l := linkAt(t, linkLive)
	l.Gone(0)
	if err := l.Create(0, cellCopy{Space: 1, Parts: []byte("second life")}); err != nil {
		t.Fatal(err)
	}
	if kept, lost := l.Offer(0, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 9}, Saves: 9, Parts: []byte("first life")}); kept || lost {
		t.Errorf("kept %v, lost %v", kept, lost)
	}
}

func TestCellLinkLost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    linkState
		order entity.Order
		want  bool
	}{
		{"the current order", linkLive, entity.Order{Incarnation: 1, Hop: 3}, true},
		{"an older order", linkLive, entity.Order{Incarnation: 1, Hop: 2}, false},
		{"a newer order, unheard of", linkLive, entity.Order{Incarnation: 1, Hop: 4}, true},
		{"another incarnation", linkLive, entity.Order{Incarnation: 2, Hop: 0}, false},
		{"the one being made", linkCreating, entity.Order{Incarnation: 1, Hop: 0}, true},
		{"doubled", linkLost, entity.Order{Incarnation: 1, Hop: 3}, false},
		{"without a cell part", linkNone, entity.Order{Incarnation: 1, Hop: 3}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := linkAt(t, tt.in)
			if got := l.Lost(0, tt.order); got != tt.want {
				t.Fatalf("got %v", got)
			}
			if tt.want {
				wantState(t, l, linkLost, tt.order, nowhere)
				if v := l.Current(0, appX, tt.order, 0); v != currentRefused {
					t.Errorf("a Current of the lost order, late: %v", v)
				}
			}
		})
	}
}

func TestCellLinkSecondLifeForgetsTheFirst(t *testing.T) {
	l := linkAt(t, linkLive)
	l.say(t, 3)
	l.Gone(0)
	wantState(t, l, linkNone, entity.Order{Incarnation: 1, Hop: 3}, nowhere)
	if l.out.Kept() != 0 {
		t.Errorf("%d messages are kept for a cell part that is gone", l.out.Kept())
	}
	if err := l.Create(0, cellCopy{Space: 1}); err != nil {
		t.Fatal(err)
	}
	wantState(t, l, linkLocating, entity.Order{Incarnation: 2, Hop: 0}, nowhere)
	if c := l.Copy(); c.Handled != 3 || c.Restored {
		t.Errorf("the second life starts from %+v", c)
	}
	l.say(t, 1)
	l.Step(0)
	l.Located(0, appX)
	l.Current(0, appX, entity.Order{Incarnation: 2, Hop: 0}, 3)
	if got := fmt.Sprint(l.unreceived()); got != "[4]" {
		t.Errorf("it gets %v", got)
	}
}

func TestCellLinkLeave(t *testing.T) {
	for _, tt := range []struct {
		in    linkState
		tell  bool
		err   error
		state linkState
	}{
		{linkNone, false, entity.ErrNoPart, linkNone}, {linkLocating, false, nil, linkNone}, {linkCreating, true, nil, linkCreating},
		{linkLive, true, nil, linkLive}, {linkLost, false, nil, linkNone},
	} {
		t.Run(tt.in.String(), func(t *testing.T) {
			l := linkAt(t, tt.in)
			tell, err := l.Leave(0)
			if tell != tt.tell || !errors.Is(err, tt.err) || l.State() != tt.state || l.Open() {
				t.Errorf("tell %v, %v, now %v, open %v", tell, err, l.State(), l.Open())
			}
			if _, err := l.Leave(0); !errors.Is(err, entity.ErrNoPart) {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestCellLinkLeavingEndsWithALoss(t *testing.T) {
	for name, lose := range map[string]func(*cellLink){
		"death": func(l *cellLink) { l.LostWith(0, appX) },
		"offer": func(l *cellLink) { l.Offer(0, cellCopy{Order: entity.Order{Incarnation: 1, Hop: 4}}) },
		"lost":  func(l *cellLink) { l.Lost(0, entity.Order{Incarnation: 1, Hop: 3}) },
		"gone":  func(l *cellLink) { l.Gone(0) },
	} {
		l := linkAt(t, linkLive)
		if _, err := l.Leave(0); err != nil {
			t.Fatal(err)
		}
		lose(l)
		if l.State() != linkNone {
			t.Errorf("%s: %v; what is to be destroyed is not restored", name, l.State())
		}
		if v := l.Current(0, appZ, entity.Order{Incarnation: 1, Hop: 5}, 0); v != currentRefused {
			t.Errorf("%s: the real that went on: %v", name, v)
		}
	}
	l := linkAt(t, linkCreating)
	if _, err := l.Leave(0); err != nil {
		t.Fatal(err)
	}
	if l.Step(createTimeout) || l.State() != linkNone {
		t.Errorf("a creation that never answered: %v", l.State())
	}
}

func TestCellLinkCreateTwice(t *testing.T) {
	for _, s := range []linkState{linkLocating, linkCreating, linkLive, linkLost} {
		if err := linkAt(t, s).Create(0, cellCopy{}); !errors.Is(err, entity.ErrHasPart) {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// TestCellLinkInvariants drives links with random, also senseless, events and checks after each
// what the package promises.
func TestCellLinkInvariants(t *testing.T) {
	for seed := range uint64(200) {
		chance := rand.New(rand.NewPCG(seed, 7))
		l := new(cellLink)
		var now time.Duration
		apps := []mercury.Address{appX, appY, appZ}
		order := func() entity.Order {
			o := entity.Order{Incarnation: l.Order().Incarnation, Hop: l.Order().Hop + uint32(chance.IntN(4))}
			return entity.Order{Incarnation: max(o.Incarnation+uint32(chance.IntN(3)), 1) - 1, Hop: o.Hop}
		}
		for step := range 300 {
			before, last := l.Order(), l.out.Last()
			app := apps[chance.IntN(len(apps))]
			handled := flow.Mark(chance.IntN(int(last) + 1))
			switch chance.IntN(11) {
			case 0:
				_ = l.Create(now, cellCopy{Space: 1})
			case 1, 2:
				l.Located(now, app)
			case 3, 4:
				o := order()
				switch v := l.Current(now, app, o, handled); {
				case v == currentRefused:
				case o.Before(before):
					t.Fatalf("seed %d step %d: %v at %v was taken after %v", seed, step, v, o, before)
				case l.State() != linkLive || l.App() != app || l.Order() != o:
					t.Fatalf("seed %d step %d: %v, but live is %v at %v", seed, step, v, l.App(), l.Order())
				}
			case 5:
				l.LostWith(now, app)
			case 6:
				l.Backup(now, cellCopy{Order: order(), Saves: uint64(step), Handled: max(handled, l.Copy().Handled)})
			case 7:
				l.Offer(now, cellCopy{Order: order(), Saves: uint64(step), Handled: max(handled, l.Copy().Handled)})
			case 8:
				l.Lost(now, order())
			case 9:
				if chance.IntN(8) == 0 {
					_, _ = l.Leave(now)
				}
				if l.Open() {
					_, _ = l.out.Add(now, []byte("m"))
				}
			case 10:
				now += time.Duration(chance.IntN(1000)) * time.Millisecond
				l.Step(now)
			}
			c := l.Copy()
			switch {
			case l.Order().Before(before):
				t.Fatalf("seed %d step %d: the order went back from %v to %v", seed, step, before, l.Order())
			case l.State() != linkNone && l.out.Low() > c.Handled.Number()+1:
				t.Fatalf("seed %d step %d: messages are kept from %d, the copy contains only up to %d", seed, step, l.out.Low(), c.Handled)
			case (l.State() == linkLive || l.State() == linkCreating) == l.App().IsZero():
				t.Fatalf("seed %d step %d: %v on %v", seed, step, l.State(), l.App())
			case l.State() != linkNone && c.Order.Incarnation == 0:
				t.Fatalf("seed %d step %d: %v without a copy", seed, step, l.State())
			case l.State() != linkNone && l.in.Incarnation() != l.Order().Incarnation:
				t.Fatalf("seed %d step %d: flow of stream %d at %v", seed, step, l.in.Incarnation(), l.Order())
			}
		}
	}
}

// The end of a space is the end of a cell part that is to be made there, and of no other.
func TestNoSpace(t *testing.T) {
	var l cellLink
	if l.NoSpace(0) {
		t.Error("the end of no cell part")
	}
	if err := l.Create(0, cellCopy{Space: 7}); err != nil {
		t.Fatal(err)
	}
	if !l.NoSpace(0) || l.State() != linkNone || l.NoSpace(0) {
		t.Errorf("the link is %v", l.State())
	}
	if err := l.Create(0, cellCopy{Space: 8}); err != nil {
		t.Fatal(err)
	}
	app := mercury.Address{Salt: 1}
	l.Located(0, app)
	if l.NoSpace(0) {
		t.Error("a late word ends what is being made")
	}
	l.Current(0, app, l.Order(), 0)
	if l.NoSpace(0) || l.State() != linkLive {
		t.Error("a late word ends what lives")
	}
}
