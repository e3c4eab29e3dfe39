package cellappmgr

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// running is a manager of term 2 whose window is over, with cell 1 on app 10.
func running(t testing.TB, told wire.Rejoin) (*rig, *peer) {
	r := next(t, nil)
	a := r.comeBack(wire.CellApp, 10, 1, told, has(1, r.before(7, 0, true)))
	r.pass(2100 * time.Millisecond)
	one[wire.Welcome](a)
	return r, a
}

func TestLateRejoin(t *testing.T) {
	r, a := running(t, wire.Rejoin{})
	a.ids()
	tree := r.before(7, 0, true)

	// Its leaf belonged to nobody.
	dead := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, has(2, tree))
	one[wire.Dismissed](dead)
	none[wire.Welcome](dead)

	// It has nothing to lose; its number is still its own if no one else has it.
	idle := r.comeBack(wire.CellApp, 12, 7, wire.Rejoin{Allocator: 99})
	if w := one[wire.Welcome](idle); w.Number != 7 || w.Allocator != 99 {
		t.Errorf("%+v", w)
	}
	if w := one[wire.Welcome](r.comeBack(wire.CellApp, 13, 7, wire.Rejoin{})); w.Number != 8 {
		t.Errorf("%+v", w)
	}

	// It has a cell that is in no geometry, like one that was made too late to be told of.
	lost := r.before(5, 0, true)
	b := r.comeBack(wire.CellApp, 14, 9, wire.Rejoin{}, has(9, lost))
	one[wire.Welcome](b)
	if m := one[wire.RemoveCell](b); m.Cell != old(9) || len(m.Peers) != 1 || m.Peers[0] != a.addr {
		t.Errorf("%+v", m)
	}
	if m := one[wire.CellGoing](a); m.Cell != old(9) || m.App != b.addr {
		t.Errorf("%+v", m)
	}
}

// lateCell is a cell that is in no geometry, as a late app reports it.
func (r *rig) lateCell(data ...wire.SpaceDataEntry) wire.RejoinCell {
	return has(9, r.before(5, 0, true), data...)
}

func entry(n uint64, key uint16, value string) wire.SpaceDataEntry {
	return wire.SpaceDataEntry{Number: n, Key: key, Value: []byte(value)}
}

// What only a late app was told of a space's data is not lost; everyone is told of it under a
// number of this term. Newer entries of others stay.
func TestLateData(t *testing.T) {
	r := next(t, nil)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, r.before(7, 0, true), entry(5, 1, "rain")))
	r.pass(2100 * time.Millisecond)
	base := spacekey.Base(2) // the first number went to the area of a cell that nobody has
	for i, tt := range []struct {
		name string
		data []wire.SpaceDataEntry
		set  *wire.SetSpaceData // set before
		told []wire.SpaceDataEntry
	}{
		{"older, and of a key that nobody has", []wire.SpaceDataEntry{entry(4, 1, "sun"), entry(6, 2, "noon")}, nil,
			[]wire.SpaceDataEntry{entry(base+2, 2, "noon")}},
		{"the same again", []wire.SpaceDataEntry{entry(5, 1, "rain"), entry(6, 2, "noon")}, nil, nil},
		{"newer than the others had, and than the last late one", []wire.SpaceDataEntry{entry(8, 1, "fog"), entry(7, 2, "dusk")}, nil,
			[]wire.SpaceDataEntry{entry(base+3, 1, "fog"), entry(base+4, 2, "dusk")}},
		{"older than what was set since", []wire.SpaceDataEntry{entry(9, 2, "night")}, &wire.SetSpaceData{Space: 1, Key: 2, Value: []byte("dawn")},
			[]wire.SpaceDataEntry{entry(base+5, 2, "dawn")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.t = t
			if tt.set != nil {
				a.send(tt.set)
			}
			b := r.comeBack(wire.CellApp, 12+i, uint32(7+i), wire.Rejoin{}, r.lateCell(tt.data...))
			one[wire.Welcome](b)
			var told []wire.SpaceDataEntry
			for _, m := range take[wire.SpaceData](a) {
				if m.Entry.Key != spacekey.LostArea {
					told = append(told, m.Entry)
				}
			}
			if d := cmp.Diff(tt.told, told); d != "" {
				t.Errorf("the others were told (-want +got):\n%s", d)
			}
		})
	}
	r.t = t
}

// The only cell of a space is with an app that comes late. The space has been made anew, and its
// data is there again as soon as the app has come.
func TestLateDataOfASpaceMadeAnew(t *testing.T) {
	r := next(t, nil)
	r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{})
	r.pass(2100 * time.Millisecond)
	if add := a.confirm(); len(add) != 1 || !add[0].First || len(add[0].Data) != 0 {
		t.Fatalf("ordered: %+v", add)
	}
	late := r.comeBack(wire.CellApp, 14, 9, wire.Rejoin{}, r.lateCell(entry(18, 1, "rain")))
	want := entry(spacekey.Base(2)+1, 1, "rain")
	for _, p := range []*peer{a, late} {
		if d := cmp.Diff(want, one[wire.SpaceData](p).Entry); d != "" {
			t.Errorf("%v (-want +got):\n%s", p.addr, d)
		}
	}
	if m := one[wire.RemoveCell](late); m.Cell != old(9) {
		t.Errorf("%+v", m)
	}
}

// Data that does not fit beside what is there is refused, like any other.
func TestLateDataAboveTheLimit(t *testing.T) {
	r, a := running(t, wire.Rejoin{})
	for key := range uint16(MaxSpaceDataBytes / wire.MaxSpaceDataValue) {
		a.send(&wire.SetSpaceData{Space: 1, Key: key, Value: make([]byte, wire.MaxSpaceDataValue)})
	}
	a.ids()
	one[wire.Welcome](r.comeBack(wire.CellApp, 14, 9, wire.Rejoin{}, r.lateCell(entry(18, 1000, "rain"))))
	none[wire.SpaceData](a)
	if n := r.m.Counts().RefusedData; n != 1 {
		t.Errorf("%d refused", n)
	}
	r.logged("space data is full", "key=1000")
}

// A cell that comes late has a newer Clock than the others. Theirs stays as it is, under a number
// that the late CellApp heeds if it gets another cell of the space.
func TestLateClock(t *testing.T) {
	r, a := running(t, wire.Rejoin{})
	c := r.lateCell()
	c.Clock = gametime.Clock{Number: 1<<32 + 7, At: time.Second, Rate: 400}
	r.comeBack(wire.CellApp, 14, 9, wire.Rejoin{}, c)
	a.reportCells(cellReport(1, old(1), version(9), 0.1, 0, 1))
	r.pass(time.Second)
	m := one[wire.SpaceRate](a)
	if k := m.Clock; k.Number != 2<<32+1 || k.Runs() != gametime.NormalRate || k.GameAt(k.At) != k.At {
		t.Errorf("%+v", k)
	}
	a.reportCells(wire.CellReport{Space: 1, Cell: old(1), Version: version(9), Clock: m.Clock.Number})
	r.pass(5 * time.Second)
	none[wire.SpaceRate](a)
}

// The CellApps have the time of the world. If none was heard in the window, the time is that of the
// first late comer.
func TestLateTime(t *testing.T) {
	r := next(t, nil)
	r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
	r.pass(2100 * time.Millisecond)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{GameTime: time.Hour})
	if w := one[wire.Welcome](a); w.GameTime != time.Hour {
		t.Errorf("the time is %v", w.GameTime)
	}
	b := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{GameTime: 2 * time.Hour})
	if w := one[wire.Welcome](b); w.GameTime != time.Hour {
		t.Errorf("the time is %v by the word of another", w.GameTime)
	}
}

// A verdict of the earlier manager that a late app has acted on cannot be taken back.
func TestLateVerdict(t *testing.T) {
	r, a := running(t, wire.Rejoin{})
	base := r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{Graves: []wire.AppRef{{Role: wire.CellApp, App: a.addr}}})
	one[wire.Welcome](base)
	one[wire.Dismissed](a)
	if r.m.byAddress(a.addr) != nil || !r.m.buried(a.addr) {
		t.Error("the dead is a member")
	}
}

// Apps on which others count are dead if they do not come back: a CellApp at once, a BaseApp when
// it has been silent for as long as any may be.
func TestMissed(t *testing.T) {
	cell, base := wire.AppRef{Role: wire.CellApp, App: at(40)}, wire.AppRef{Role: wire.BaseApp, App: at(41)}
	r, a := running(t, wire.Rejoin{Peers: []wire.AppRef{cell, base}})
	dead := take[wire.AppDead](a)
	if len(dead) != 2 || dead[0].App != at(11) || dead[1].App != cell.App {
		t.Fatalf("dead: %v", dead)
	}
	r.pass(2500 * time.Millisecond)
	none[wire.AppDead](a)
	r.pass(time.Second)
	if d := one[wire.AppDead](a); d.App != base.App {
		t.Errorf("dead: %v", d)
	}

	one[wire.Dismissed](r.comeBack(wire.BaseApp, 41, 5, wire.Rejoin{}))

	r, a = running(t, wire.Rejoin{Peers: []wire.AppRef{base}})
	a.ids()
	r.pass(2500 * time.Millisecond)
	late := r.comeBack(wire.BaseApp, 41, 5, wire.Rejoin{Allocator: 6})
	if w := one[wire.Welcome](late); w.Number != 5 || w.Allocator != 6 {
		t.Errorf("%+v", w)
	}
	r.pass(5 * time.Second)
	none[wire.AppDead](a)
}

// A channel that ends before the last message voids what was said; the next one begins anew. After
// the last message only the channel is lost.
func TestRejoinOverBrokenChannels(t *testing.T) {
	r := next(t, nil)
	tree := r.before(7, 0, true)
	a, b := r.connect(wire.CellApp, at(10)), r.connect(wire.CellApp, at(11))
	a.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: 1})
	a.send(&wire.Rejoin{Number: 1})
	a.drop(mercury.ErrFull)
	a.reconnect()
	a.tell(1, wire.Rejoin{}, has(1, tree))
	b.tell(2, wire.Rejoin{}, has(2, tree))
	b.drop(mercury.ErrFull)
	r.pass(2100 * time.Millisecond)
	one[wire.Welcome](a)
	none[wire.AppDead](a)
	b.reconnect()
	b.tell(2, wire.Rejoin{}, has(2, tree)) // as far as it knows, it has not been welcomed
	if w := one[wire.Welcome](b); w.Number != 2 {
		t.Errorf("%+v", w)
	}
	none[wire.Dismissed](b)
	r.pass(5 * time.Second)
	none[wire.AppDead](a)
}

// A report that makes no sense ends the channel, and the app does not become a member.
func TestRejoinRefused(t *testing.T) {
	tree := func(r *rig) wire.RejoinCell { return has(1, r.before(7, 0, true)) }
	tests := []struct {
		name string
		role wire.Role
		say  func(r *rig) []wire.Message
	}{
		{"an end without a beginning", wire.CellApp, func(*rig) []wire.Message { return []wire.Message{&wire.RejoinEnd{}} }},
		{"cells are missing", wire.CellApp, func(*rig) []wire.Message { return []wire.Message{&wire.Rejoin{}, &wire.RejoinEnd{Cells: 1}} }},
		{"a cell before all", wire.CellApp, func(r *rig) []wire.Message { c := tree(r); return []wire.Message{&c} }},
		{"a cell of a BaseApp", wire.BaseApp, func(r *rig) []wire.Message { c := tree(r); return []wire.Message{&wire.Rejoin{}, &c} }},
		{"no tree", wire.CellApp, func(*rig) []wire.Message { return []wire.Message{&wire.Rejoin{}, &wire.RejoinCell{Space: 1}} }},
		{"a tree of this term", wire.CellApp, func(r *rig) []wire.Message {
			c, t := tree(r), r.before(7, 0, true).Clone()
			t.SetVersion(version(9))
			v := t.Version()
			v.Term = 2
			t.SetVersion(v)
			c.Tree = t.Append(nil)
			return []wire.Message{&wire.Rejoin{}, &c}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := next(t, nil)
			p := r.connect(tt.role, at(10))
			p.send(&wire.Join{Speaks: wire.Spoken(), Role: tt.role, Digest: digest, Term: 1})
			for _, m := range tt.say(r) {
				p.send(m)
			}
			if n := r.m.Counts().Malformed; n != 1 || len(r.net.aborted) != 1 {
				t.Errorf("%d malformed, %d channels aborted", n, len(r.net.aborted))
			}
		})
	}
}

// A manager lets in no app that knows a better manager; if that one has a higher term, this one
// does nothing any more.
func TestOutranked(t *testing.T) {
	for _, tt := range []struct {
		name       string
		term       uint32
		superseded bool
	}{{"the same term", 1, false}, {"a higher one", 2, true}} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			a, b, _, _ := r.split()
			a.ids()
			p := r.connect(wire.CellApp, at(12))
			p.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: [16]byte{9}, Term: tt.term}) // from another game
			one[wire.Refused](p)
			if r.m.Superseded() {
				t.Fatal("a stranger stops it")
			}
			p.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: tt.term})
			one[wire.Refused](p)
			if r.m.Superseded() != tt.superseded {
				t.Errorf("superseded: %v", !tt.superseded)
			}
			b.mute = true
			r.pass(5 * time.Second)
			if got := take[wire.AppDead](a); (len(got) == 0) != tt.superseded {
				t.Errorf("%d verdicts", len(got))
			}
			// Nor would it dismiss those whom it took for dead.
			b.reconnect()
			b.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: 2})
			one[wire.Refused](b)
			none[wire.Dismissed](b)
			if !r.m.Superseded() {
				t.Error("it does not see that its place is taken")
			}
		})
	}
}

// Apps leave a manager whose place is taken. It does not take that for deaths, and tells those that
// have not left yet nothing of it.
func TestSupersededIsSilent(t *testing.T) {
	r := newRig(t, nil)
	a, b, _, _ := r.split()
	p := r.connect(wire.CellApp, at(12))
	p.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: 2})
	a.ids()
	b.drop(mercury.ErrPeerRestarted)
	r.pass(time.Second)
	if got := a.ids(); len(got) != 0 || r.m.Status().Deaths != 0 {
		t.Errorf("told %v, %d deaths", got, r.m.Status().Deaths)
	}
}

// Figures in a rejoin that cannot come from an earlier manager would overflow the counters, or
// collide with what this term gives out: the app is cut off, or its number is not taken over.
func TestImplausibleRejoin(t *testing.T) {
	tree := func(cell bsp.CellID) []byte {
		return bsp.New(bsp.Version{Term: 1, N: 4}, bsp.Leaf{Cell: cell, App: at(10).At, Salt: at(10).Salt}).Append(nil)
	}
	info := appendSpaceInfo(nil, &origin{info: aRoom(), owner: at(20), request: 1})
	good := wire.RejoinCell{Space: 1, Cell: old(1), Version: bsp.Version{Term: 1, N: 4}, Tree: tree(old(1)),
		Clock: gametime.Clock{Number: 1<<32 + 7, Rate: 500}, Data: []wire.SpaceDataEntry{{Number: spacekey.Base(2), Key: 1}}}
	for name, tt := range map[string]struct {
		change func(*wire.RejoinCell)
		cut    bool
	}{
		"nothing":            {func(*wire.RejoinCell) {}, false},
		"clock of this term": {func(c *wire.RejoinCell) { c.Clock.Number = 2<<32 + 1 }, true},
		"last clock":         {func(c *wire.RejoinCell) { c.Clock.Number = math.MaxUint64 }, true},
		"data of this term":  {func(c *wire.RejoinCell) { c.Data[0].Number++ }, true},
		"last data number":   {func(c *wire.RejoinCell) { c.Data[0].Number = math.MaxUint64 }, true},
		"leaf of this term":  {func(c *wire.RejoinCell) { c.Tree = tree(bsp.CellID{Term: 2, N: 1}) }, true},
		"space of this term": {func(c *wire.RejoinCell) { c.Space, c.Info = 2<<spaceTermShift|1, info }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := next(t, nil)
			c := good
			c.Data = slices.Clone(good.Data)
			tt.change(&c)
			a := r.comeBack(wire.CellApp, 10, math.MaxUint32, wire.Rejoin{}, c)
			if t, err := bsp.Parse(c.Tree); err == nil {
				r.remember(t)
			}
			if cut := slices.Contains(r.net.aborted, a.ch); cut != tt.cut {
				t.Fatalf("cut off: %v", cut)
			}
			r.pass(2100 * time.Millisecond)
			if tt.cut {
				none[wire.Welcome](a)
				return
			}
			if w := one[wire.Welcome](a); w.Number != 1 {
				t.Errorf("number %d", w.Number)
			}
			if w := one[wire.Welcome](r.join(wire.CellApp, 11)); w.Number != 2 {
				t.Errorf("the next has number %d", w.Number)
			}
			base := r.join(wire.BaseApp, 20)
			if got := base.ask(1, aRoom()); got.Space != 2<<spaceTermShift|1 || len(r.m.spaces) != 2 {
				t.Errorf("%+v, %d spaces", got, len(r.m.spaces))
			}
			base.send(&wire.SetSpaceData{Space: 1, Key: 2})
			r.pass(time.Second)
		})
	}
}

// An unused space whose asker is gone ends after a restart, too.
func TestOrphansAfterRecovery(t *testing.T) {
	room := func(n uint32, owner int) wire.RejoinCell {
		tree := bsp.New(bsp.Version{Term: 1, N: 4}, leafOf(10, n, true))
		return wire.RejoinCell{Space: entity.SpaceID(1<<spaceTermShift | n), Cell: old(n), Version: tree.Version(), Tree: tree.Append(nil),
			Info: appendSpaceInfo(nil, &origin{info: aRoom(), owner: at(owner), request: 1})}
	}
	r := next(t, nil)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, room(1, 20), room(2, 21), room(3, 22))
	r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
	r.pass(2100 * time.Millisecond)
	r.comeBack(wire.BaseApp, 22, 3, wire.Rejoin{}) // late
	for n := range uint32(3) {
		a.reportRoom(entity.SpaceID(1<<spaceTermShift|(n+1)), old(n+1), 0, false)
	}
	r.pass(orphanGrace + time.Second)
	ended := map[entity.SpaceID]bool{}
	for _, m := range take[wire.RemoveCell](a) {
		ended[m.Space] = true
	}
	if len(ended) != 1 || !ended[1<<spaceTermShift|2] {
		t.Errorf("ended: %v", ended)
	}
}

// FuzzRejoin gives a manager that is recovering arbitrary messages in the middle of what an app
// tells it. Whatever they are, the window ends, and others are let in, unless the app says that the
// world is being stopped.
func FuzzRejoin(f *testing.F) {
	r := next(f, nil)
	c := has(1, r.before(7, 0, true), wire.SpaceDataEntry{Number: 3, Key: 1, Value: []byte("rain")})
	ref := wire.AppRef{Role: wire.CellApp, App: at(11)}
	for _, m := range []wire.Message{
		&wire.Rejoin{Number: 1, GameTime: time.Hour, Graves: []wire.AppRef{ref}, Peers: []wire.AppRef{ref, {Role: wire.BaseApp, App: at(40)}}},
		&c, &wire.RejoinEnd{Cells: 1}, &wire.RejoinEnd{}, &wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: 1}, &wire.Join{Role: wire.CellApp, Digest: digest, Term: 200},
	} {
		f.Add(wire.Encode(nil, m))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		r := next(t, nil)
		p := r.connect(wire.CellApp, at(10))
		p.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: 1})
		p.send(&wire.Rejoin{Number: 1})
		p.raw(msg)
		p.send(&wire.RejoinEnd{})
		late := r.join(wire.CellApp, 12)
		r.pass(2500 * time.Millisecond)
		switch {
		case r.m.Superseded():
		case r.m.stopping.step != wire.StopNone:
			one[wire.Refused](late)
		default:
			one[wire.Welcome](late)
		}
	})
}

// A space that the earlier manager has ended is not brought back by a CellApp that was not told:
// nothing can live on its former cell any more.
func TestEndedSpaceStaysEndedAfterRecovery(t *testing.T) {
	r := next(t, nil)
	id := entity.SpaceID(1<<spaceTermShift | 5)
	tree := bsp.New(bsp.Version{Term: 1, N: 4}, leafOf(10, 1, true))
	if err := tree.Split(old(1), bsp.AxisX, 0, leafOf(11, 2, true), true); err != nil {
		t.Fatal(err)
	}
	room := func(cell uint32) wire.RejoinCell {
		info := appendSpaceInfo(nil, &origin{info: aRoom(), owner: at(20), request: 1})
		return wire.RejoinCell{Space: id, Cell: old(cell), Version: tree.Version(), Tree: tree.Append(nil), Info: info}
	}
	ended := room(1)
	ended.Ended = true
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, ended)
	b := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, room(2))
	base := r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
	r.pass(2100 * time.Millisecond)
	for i, p := range []*peer{a, b} {
		got := take[wire.RemoveCell](p)
		if len(got) == 0 || !got[0].Ended || got[0].Space != id || got[0].Cell != old(uint32(1+i)) {
			t.Fatalf("%v was ordered %+v", p.addr, got)
		}
		none[wire.Geometry](p)
		p.send(&wire.CellRemoved{Space: id, Cell: got[0].Cell})
	}
	base.send(&wire.Locate{ID: 5, Space: id})
	if l := one[wire.Located](base); !l.Gone || r.m.space(id) != nil || len(r.m.byRequest) != 0 {
		t.Errorf("it is there again: %+v", l)
	}
}

// A CellApp comes back late with a cell of a space that nobody else knows. No manager keeps the
// space and bases were told that it is gone, so it ends on the CellApp, too.
func TestLateRoomEnds(t *testing.T) {
	r, _ := running(t, wire.Rejoin{})
	id := entity.SpaceID(1<<spaceTermShift | 5)
	tree := bsp.New(bsp.Version{Term: 1, N: 4}, leafOf(12, 7, true))
	b := r.comeBack(wire.CellApp, 12, 9, wire.Rejoin{}, wire.RejoinCell{Space: id, Cell: old(7), Version: tree.Version(),
		Tree: tree.Append(nil), Info: appendSpaceInfo(nil, &origin{info: aRoom(), owner: at(20), request: 1})})
	if m := one[wire.RemoveCell](b); !m.Ended || m.Space != id || m.Cell != old(7) {
		t.Errorf("%+v", m)
	}
	b.send(&wire.CellRemoved{Space: id, Cell: old(7)})
}
