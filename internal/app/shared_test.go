package app_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// sharedRig is a copy, and what it says to the manager, which does not answer.
func sharedRig() *app.Shared {
	manager := app.NewMember(&app.Links{Log: slog.New(slog.DiscardHandler)}, netip.AddrPort{}, wire.Join{})
	said := app.NewSaid(&manager)
	return app.NewShared(&said)
}

func sharedEntry(number uint64, key string, value any) wire.SpaceDataEntry {
	e := wire.SpaceDataEntry{Number: number, Key: spacekey.Shared, Name: key, Removed: value == nil}
	if value != nil {
		v, err := property.AnyValue(value)
		if err != nil {
			panic(err)
		}
		e.Value = property.Scalar(property.KindAny).AppendTo(nil, v)
	}
	return e
}

func news(s *app.Shared, after uint64) (text string) {
	for c := range s.News(after) {
		text += fmt.Sprintf("%s=%v%v ", c.Key, c.Value, c.Removed)
	}
	return strings.TrimSpace(text)
}

// A copy is what the manager has numbered, and its news are the newest change of each key, in order.
func TestSharedTakes(t *testing.T) {
	s := sharedRig()
	for _, e := range []wire.SpaceDataEntry{sharedEntry(1, "a/x", int64(1)), sharedEntry(2, "b", "two"), sharedEntry(3, "a/w", true), sharedEntry(4, "a/x", int64(4)), sharedEntry(5, "b", nil),
		sharedEntry(2, "b", "late")} {
		if err := s.Take(e); err != nil {
			t.Fatal(err)
		}
	}
	if v, ok := s.Get("a/x"); v != int64(4) || !ok {
		t.Errorf("a/x is %v, %v", v, ok)
	}
	if v, ok := s.Get("b"); v != nil || ok {
		t.Errorf("b is %v, %v", v, ok)
	}
	all := ""
	for k, v := range s.All("a/") {
		all += fmt.Sprintf("%s=%v ", k, v)
	}
	if all != "a/w=true a/x=4 " {
		t.Errorf("all are %s", all)
	}
	if got := news(s, 1); got != "a/w=truefalse a/x=4false b=<nil>true" || s.Last() != 5 {
		t.Errorf("the news are %s, up to %d", got, s.Last())
	}
	if got := news(s, 5); got != "" {
		t.Errorf("the news are %s", got)
	}
}

// Told everything, it hears also of what was removed meanwhile.
func TestSharedTakesAll(t *testing.T) {
	s := sharedRig()
	_ = s.Take(sharedEntry(1, "gone", "x"))
	_ = s.Take(sharedEntry(2, "stays", "x"))
	_ = s.Take(sharedEntry(3, "changed", "x"))
	all := wire.SharedData{Last: 1 << 48, Data: []wire.SpaceDataEntry{sharedEntry(2, "stays", "x"), sharedEntry(1<<48-1, "changed", "y"), sharedEntry(1<<48, "new", "z")}}
	if err := s.TakeAll(&all); err != nil {
		t.Fatal(err)
	}
	if got := news(s, 3); got != "changed=yfalse new=zfalse gone=<nil>true" || s.Last() != 1<<48 {
		t.Errorf("the news are %s, up to %d", got, s.Last())
	}
	back := s.Rejoin()
	if back.Last != 1<<48 || len(back.Data) != 4 {
		t.Errorf("it tells the next manager of %d up to %d", len(back.Data), back.Last)
	}
	if err := s.Take(wire.SpaceDataEntry{Number: 1<<48 + 1, Key: spacekey.Shared, Name: "bad", Value: []byte{1, 0xc1}}); err == nil {
		t.Error("a value that is none is taken")
	}
}

// Notes of what was removed are bounded.
func TestSharedNotes(t *testing.T) {
	s := sharedRig()
	for n := uint64(1); n <= 3*wire.MaxRemovedData; n += 2 {
		_ = s.Take(sharedEntry(n, fmt.Sprint(n), "x"))
		_ = s.Take(sharedEntry(n+1, fmt.Sprint(n), nil))
	}
	if m := s.Rejoin(); len(m.Data) != wire.MaxRemovedData {
		t.Errorf("%d notes are kept", len(m.Data))
	}
}

// What cannot be is refused where it is said.
func TestSharedRefuses(t *testing.T) {
	s := sharedRig()
	for _, tt := range []struct {
		key   string
		value any
		want  error
	}{
		{"", 1, shared.ErrKey}, {strings.Repeat("k", shared.MaxKey+1), 1, shared.ErrKey}, {"k", struct{}{}, property.ErrValue},
		{"k", make([]byte, shared.MaxValue), shared.ErrTooLong}, {"k", int64(5), nil},
	} {
		if err := s.Set(tt.key, tt.value); !errors.Is(err, tt.want) {
			t.Errorf("%.10q = %.20v: %v", tt.key, tt.value, err)
		}
	}
	if err := s.Remove(""); !errors.Is(err, shared.ErrKey) {
		t.Errorf("remove: %v", err)
	}
	var err error
	for n := 0; err == nil && n < 2*app.MaxSaid; n++ {
		err = s.Set(fmt.Sprint(n), int64(n))
	}
	if !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("too many: %v", err)
	}
}

// A caller has its fragment as long as it is there, and callers are spread over all.
func TestFragments(t *testing.T) {
	s := sharedRig()
	if id := s.Choose("Chat", 7); id != 0 {
		t.Errorf("none is %v", id)
	}
	fragment := func(number uint64, name string, id byte) wire.SpaceDataEntry {
		return wire.SpaceDataEntry{Number: number, Key: spacekey.Service, Name: name, Value: []byte{id}}
	}
	for i, e := range []wire.SpaceDataEntry{fragment(1, "Chat/1", 11), fragment(2, "Chat/2", 12), fragment(3, "Mail/1", 13), fragment(4, "Chat/3", 14)} {
		if err := s.Take(e); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	count := map[entity.ID]int{}
	for caller := entity.ID(1000); caller < 4000; caller++ {
		id := s.Choose("Chat", caller)
		if count[id]++; id != s.Choose("Chat", caller) {
			t.Fatal("it changes")
		}
	}
	for _, id := range []entity.ID{11, 12, 14} {
		if n := count[id]; n < 800 || n > 1200 {
			t.Errorf("%v has %d of 3000 callers", id, n)
		}
	}
	_ = s.Take(wire.SpaceDataEntry{Number: 5, Key: spacekey.Service, Name: "Chat/2", Removed: true})
	_ = s.Take(fragment(6, "Chat/1", 21))
	if got := fmt.Sprint(s.Fragments("Chat"), s.Fragments("Mail")); got != "[0.14 0.21] [0.13]" {
		t.Errorf("there are %s", got)
	}
	if news(s, 0) != "" {
		t.Error("services are in the game's news")
	}
	if err := s.Take(wire.SpaceDataEntry{Number: 7, Key: spacekey.Service, Name: "nothing", Value: []byte{1}}); err == nil {
		t.Error("a fragment of nothing is taken")
	}
}

// BenchmarkNews is what each watcher costs in a tick in which one of as many keys as there can be has changed.
func BenchmarkNews(b *testing.B) {
	s := sharedRig()
	for n := uint64(1); n <= shared.MaxKeys; n++ {
		if err := s.Take(sharedEntry(n, fmt.Sprint(n), int64(n))); err != nil {
			b.Fatal(err)
		}
	}
	heard := 0
	for b.Loop() {
		for range s.News(shared.MaxKeys - 1) {
			heard++
		}
	}
	if heard != b.N {
		b.Errorf("%d changes heard in %d ticks", heard, b.N)
	}
}

// add is an update that counts.
func add(was any, _ bool) (any, bool) {
	n, _ := was.(int64)
	return n + 1, true
}

// Updates are computed anew from what others have left, one after the other, until each is made.
func TestUpdates(t *testing.T) {
	s := sharedRig()
	calls := 0
	count := func(was any, ok bool) (any, bool) { calls++; return add(was, ok) }
	for range 3 {
		if err := s.Update("n", count); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Take(sharedEntry(1, "n", int64(7))) // another's, which the manager heard first
	s.Answered(&wire.SpaceDataSet{Said: 1})
	if calls != 4 { // at once each, and the first again
		t.Errorf("computed %d times", calls)
	}
	_ = s.Take(sharedEntry(2, "n", int64(8)))
	s.Answered(&wire.SpaceDataSet{Said: 2, Made: 2})
	_ = s.Take(sharedEntry(4, "n", int64(9)))
	s.Answered(&wire.SpaceDataSet{Said: 3, Made: 3})
	s.Answered(&wire.SpaceDataSet{Said: 3, Made: 3}) // again: the last is not answered yet
	if calls != 6 {
		t.Errorf("computed %d times", calls)
	}
	s.Answered(&wire.SpaceDataSet{Said: 4, Made: 4})
	if err := s.Update("n", count); err != nil || calls != 7 {
		t.Errorf("the next one is %v, computed %d times", err, calls)
	}
}

// What is refused for another reason than that others were first is given up, and so is what makes no sense.
func TestUpdatesThatFail(t *testing.T) {
	s := sharedRig()
	calls := 0
	if err := s.Update("n", func(any, bool) (any, bool) { calls++; return int64(1), true }); err != nil {
		t.Fatal(err)
	}
	s.Answered(&wire.SpaceDataSet{Said: 1}) // there is no room
	if calls != 1 {
		t.Errorf("computed %d times", calls)
	}
	for _, x := range []struct {
		key    string
		change func(any, bool) (any, bool)
		err    bool
	}{
		{"", add, true}, {"n", func(any, bool) (any, bool) { return struct{}{}, true }, true},
		{"n", func(any, bool) (any, bool) { panic("a game's fault") }, true}, {"n", func(any, bool) (any, bool) { return nil, false }, false},
	} {
		if err := s.Update(x.key, x.change); (err != nil) != x.err {
			t.Errorf("%q: %v", x.key, err)
		}
	}
	for n := range shared.MaxUpdates + 1 {
		if err := s.Update("n", add); (err != nil) != (n == shared.MaxUpdates) {
			t.Fatalf("the update %d: %v", n, err)
		}
	}
}
