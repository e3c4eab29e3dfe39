package space

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
)

// testSink keeps what cells record, and refuses when it is told to.
type testSink struct {
	streams  []*testStream
	openErr  error
	errors   error // of Append
	dropped  int
	closeErr error
}

type testStream struct {
	*testSink
	head   recording.Header
	chunks [][]byte
	closed bool
}

func (s *testSink) Open(h *recording.Header) (recording.Stream, error) {
	if s.openErr != nil {
		return nil, s.openErr
	}
	x := &testStream{testSink: s, head: *h}
	s.streams = append(s.streams, x)
	return x, nil
}

func (s *testStream) Append(chunk []byte) error {
	if s.errors != nil {
		s.dropped++
		return s.errors
	}
	if len(chunk) > recording.MaxChunk {
		return fmt.Errorf("a chunk of %d bytes", len(chunk))
	}
	s.chunks = append(s.chunks, slices.Clone(chunk))
	return nil
}

func (s *testStream) Close() error {
	s.closed = true
	return s.closeErr
}

// lines is what a stream was told, one record a line.
type lines struct {
	ids map[uint32]entity.ID
	b   strings.Builder
}

func (l *lines) add(format string, args ...any) error {
	fmt.Fprintf(&l.b, format+"\n", args...)
	return nil
}

func (l *lines) State(n uint32, s *recording.ReadState) error {
	l.ids[n] = s.ID
	p := s.Spot.Position()
	if s.Vehicle != 0 {
		_ = l.add("%d on %d at %v", uint64(s.ID), uint64(s.Vehicle), s.Seat.Position().X)
	}
	return l.add("%d is %v at %v base %q", uint64(s.ID), s.Order, p.X, s.Base)
}
func (l *lines) Place(n uint32, by *recording.Spot) error {
	return l.add("%d goes %v", uint64(l.ids[n]), by.Position().X)
}
func (l *lines) Ride(n uint32, v entity.ID, at *recording.Spot) error {
	return l.add("%d rides on %d at %v", uint64(l.ids[n]), uint64(v), at.Position().X)
}
func (l *lines) Change(n uint32, i int, b []byte) error {
	return l.add("%d: %d is %q", uint64(l.ids[n]), i, b)
}
func (l *lines) Call(n uint32, m int, own bool, b []byte) error {
	return l.add("%d: calls %d %v %q", uint64(l.ids[n]), m, own, b)
}
func (l *lines) Left(n uint32, ended bool) error {
	return l.add("%d left, ended %v", uint64(l.ids[n]), ended)
}
func (l *lines) Data(d *recording.Datum) error {
	return l.add("data %d %v %q", d.Key, d.Removed, d.Value)
}
func (l *lines) AllData(_ uint64, all []recording.Datum) error { return l.add("data: %d", len(all)) }
func (l *lines) EndKey() error                                 { return l.add("key") }
func (l *lines) Close() error                                  { return l.add("close") }

// said returns what a stream has been told since the last call.
func (s *testStream) said(t *testing.T) string {
	t.Helper()
	l := lines{ids: make(map[uint32]entity.ID)}
	for _, c := range s.chunks {
		if _, err := recording.ReadChunk(c, &l); err != nil {
			t.Fatal(err)
		}
	}
	return l.b.String()
}

// recorded is a rig whose space is recorded.
func recorded(t *testing.T, apps int) (*rig, *testSink) {
	r, sink := newRig(t, apps), new(testSink)
	for _, a := range r.apps {
		a.population.env.Recorder = sink
	}
	r.must(r.apps[0].cell.SetSpaceData(recording.Key, []byte("final")))
	return r, sink
}

func TestTape(t *testing.T) {
	r, sink := recorded(t, 1)
	r.create(7, 5, 1)
	r.tick(1)
	a := r.avatar(7)
	a.Hp.Set(3)
	a.Diary.Set("private")
	r.must(a.AllClients().Call("say", uint32(1)))
	r.must(a.OwnClient().Call("say", uint32(2)))
	r.tick(1)
	r.move(7, 6)
	r.must(a.SetSpaceData(9, []byte("x")))
	r.tick(1)
	a.SetWithheld(true)
	a.Hp.Set(4)
	r.tick(1)
	a.SetWithheld(false)
	r.tick(1)
	a.Destroy()
	r.tick(1)
	r.must(r.apps[0].cell.RemoveSpaceData(recording.Key, 0))
	r.tick(2)
	if len(sink.streams) != 1 || !sink.streams[0].closed {
		t.Fatalf("%d streams, closed %v", len(sink.streams), sink.streams[0].closed)
	}
	s := sink.streams[0]
	if s.head.Label != "final" || s.head.Space != a.Space() || s.head.Digest != r.scripts.Schema().Digest {
		t.Errorf("the header is %+v", s.head)
	}
	want := `data: 1
7 is 1/0 at 5 base ""
key
7: 0 is "\x00\x03\x00\x00\x00"
7: calls 0 false "\x01\x00\x00\x00"
data 9 false "x"
7 goes 1
7 left, ended true
7 is 1/0 at 6 base ""
7 left, ended true
close
`
	if got := s.said(t); got != want {
		t.Errorf("recorded\n%s, want\n%s", got, want)
	}
	if n := r.apps[0].count.Unrecorded; n != 0 {
		t.Errorf("%d ticks are missing", n)
	}
}

// Who rides is recorded by its seat, once, while the vehicle is shown: else, and when it is off, by its place in
// the world.
func TestTapeOfRide(t *testing.T) {
	r, sink := recorded(t, 1)
	r.create(7, 5, 1)
	r.create(8, 6, 1)
	r.tick(1)
	s := sink.streams[0]
	does := func(want string, act func()) {
		t.Helper()
		s.chunks = nil
		act()
		r.tick(1)
		l := lines{ids: map[uint32]entity.ID{0: 7, 1: 8}}
		for _, c := range s.chunks {
			if _, err := recording.ReadChunk(c, &l); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.TrimSuffix(strings.ReplaceAll(l.b.String(), "\n", "; "), "; "); got != want {
			t.Errorf("recorded %q, want %q", got, want)
		}
	}
	cart, mule := r.avatar(7), r.avatar(8)
	does("8 rides on 7 at 2", func() { r.board(8, 7, property.Vector3{X: 2}) })
	does("7 goes 5", func() { r.move(7, 10) })
	does("8 goes 1", func() { r.must(mule.SetPosition(property.Vector3{X: 13})) })
	does("7 left, ended true; 8 rides on 0 at 13", func() { cart.SetWithheld(true) })
	does("8 goes 7", func() { r.move(7, 17) })
	does("7 is 1/0 at 17 base \"\"; 8 rides on 7 at 3", func() { cart.SetWithheld(false) })
	does("data: 1; 7 is 1/0 at 17 base \"\"; 8 on 7 at 3; 8 is 1/0 at 20 base \"\"; key", func() { r.apps[0].cell.tape.key = true })
	does("8 rides on 0 at 20", func() { mule.Alight() })
	does("7 goes 1", func() { r.move(7, 18) })
	does("8 rides on 7 at 2", func() { r.board(8, 7, property.Vector3{X: 2}) })
	does("7 left, ended true; 8 rides on 0 at 20", func() { cart.Destroy() })
}

// An offload goes on in another log; who is teleported out of the space, or is made here and goes, ends.
func TestTapeOverBorder(t *testing.T) {
	r, sink := recorded(t, 2)
	r.create(7, -5, 1)
	r.tick(2)
	r.move(7, 40)
	r.tick(10)
	if r.real(7).cell != r.apps[1].cell.Cell {
		t.Fatal("it was not handed over")
	}
	var all []string
	for _, s := range sink.streams {
		all = append(all, s.said(t))
	}
	if len(all) != 2 || !strings.Contains(all[0]+all[1], "7 left, ended false") || !strings.Contains(all[0]+all[1], "7 is 1/1 at 40") {
		t.Errorf("recorded\n%s", strings.Join(all, "\n--\n"))
	}
	if strings.Contains(all[0]+all[1], "ended true") {
		t.Errorf("a handover ends it:\n%s", strings.Join(all, "\n--\n"))
	}
}

// What the base exposes for replay is recorded, travels along, and is in backups.
func TestTapeOfBase(t *testing.T) {
	rank := &property.Property{Name: "rank", Type: property.Scalar(property.KindUint8), Flags: property.Base, ExposedForReplay: true}
	r, sink := newRigOf(t, schemaOf(t, property.Compression{}, rank), 2), new(testSink)
	for _, a := range r.apps {
		a.population.env.Recorder = sink
	}
	r.must(r.apps[0].cell.SetSpaceData(recording.Key, nil))
	r.create(7, -5, 1)
	r.tick(2)
	index := byte(slices.IndexFunc(r.real(7).e.Def.Properties, func(p *property.Property) bool { return p.Name == "rank" }))
	r.say(7, []byte{byte(flow.ExposedPayload), 1, 5}) // all
	r.tick(1)
	r.say(7, []byte{byte(flow.ExposedPayload), 0, index, 0, 0, 9}) // one
	r.tick(1)
	r.move(7, 40)
	r.tick(10)
	if len(sink.streams) != 2 {
		t.Fatalf("%d streams", len(sink.streams))
	}
	got := sink.streams[0].said(t) + sink.streams[1].said(t)
	for _, want := range []string{fmt.Sprintf("7: %d is \"\\x00\\x05\"", index), fmt.Sprintf("7: %d is \"\\x00\\t\"", index), `7 is 1/1 at 40 base "\t"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	if b := r.backUp(7); b == nil {
		t.Fatal("no backup")
	} else if !strings.Contains(string(b.Parts), "\x16\x01\t") {
		t.Errorf("the backup lacks it: %q", b.Parts)
	}
	for _, bad := range []string{"", "\x02", "\x01", "\x01\x05\x05", "\x00", "\x00\xff\xff\x00\x00", "\x00\x00\x00\x00\x00", string([]byte{0, index, 0, 0})} {
		if err := r.real(7).hearExposed([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A sink that is full, or fails, or is not there, costs no tick; it is counted, told once, and a key frame
// follows.
func TestTapeRefused(t *testing.T) {
	r, sink := recorded(t, 1)
	r.create(7, 5, 1)
	r.tick(2)
	s := sink.streams[0]
	kept := len(s.chunks)
	sink.errors = recording.ErrFull
	r.move(7, 6)
	r.tick(5)
	if n := r.apps[0].count.Unrecorded; n != 5 || sink.dropped != 1 {
		t.Errorf("%d ticks are counted, %d chunks were refused", n, sink.dropped)
	}
	sink.errors = nil
	r.tick(10)
	s.chunks = s.chunks[kept:]
	if h, err := recording.ReadHead(s.chunks[0]); err != nil || !h.Gap {
		t.Errorf("nothing tells of the gap: %+v, %v", h, err)
	}
	if got := s.said(t); got != "data: 1\n7 is 1/0 at 6 base \"\"\nkey\n" || len(sink.streams) != 1 {
		t.Errorf("after the gap there is\n%s", got)
	}
	sink.errors = errors.New("the disk is broken")
	r.move(7, 7)
	r.tick(1)
	sink.errors, sink.openErr = nil, errors.New("still")
	r.pass(tapeReopen)
	if !s.closed || len(sink.streams) != 1 {
		t.Errorf("%d streams, closed %v", len(sink.streams), s.closed)
	}
	sink.openErr = nil
	r.pass(tapeReopen)
	if len(sink.streams) != 2 || !strings.Contains(sink.streams[1].said(t), "7 is 1/0 at 7") {
		t.Fatalf("%d streams", len(sink.streams))
	}
	r.apps[0].population.env.Recorder = nil
	r.must(r.apps[0].cell.SetSpaceData(recording.Key, []byte("another")))
	before := r.apps[0].count.Unrecorded
	r.tick(3)
	if n := r.apps[0].count.Unrecorded - before; n != 3 || !sink.streams[1].closed {
		t.Errorf("%d ticks without a sink are counted", n)
	}
}

// Key frames come at the boundaries of game time, and long ones in several chunks.
func TestTapeKeys(t *testing.T) {
	r, sink := recorded(t, 1)
	long := strings.Repeat("x", 60<<10)
	for id := entity.ID(7); id < 20; id++ {
		r.create(id, 5, 0)
	}
	r.tick(1)
	for id := entity.ID(7); id < 20; id++ {
		bag := r.real(id).e.Props
		list := make([]property.Value, 10<<10)
		for i := range list {
			list[i] = property.Uint(uint64(len(long)))
		}
		if err := bag.Set(bagProp, property.List(list...)); err != nil {
			t.Fatal(err)
		}
	}
	r.pass(2*recording.KeyPeriod + time.Second)
	keys, longest := 0, 0
	last := time.Duration(-1)
	for _, c := range sink.streams[0].chunks {
		h, err := recording.ReadHead(c)
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, len(c))
		if h.Key {
			if keys++; keys > 1 && h.Game/recording.KeyPeriod == last/recording.KeyPeriod {
				t.Errorf("two key frames between two boundaries, at %v and %v", last, h.Game)
			}
			last = h.Game
		}
	}
	if keys < 3 || longest > recording.FlushAt+recording.MaxProps || longest < recording.FlushAt {
		t.Errorf("%d key frames, the longest chunk has %d bytes", keys, longest)
	}
}

// Whoever is hidden or destroyed when a key frame comes is not in it, and leaves the log in
// order before.
func TestTapeKeyWithout(t *testing.T) {
	r, sink := recorded(t, 1)
	for id := entity.ID(7); id < 11; id++ {
		r.create(id, 5, 0)
	}
	r.tick(2)
	r.pass(recording.KeyPeriod - r.apps[0].cell.game%recording.KeyPeriod - 500*time.Millisecond)
	s, c := sink.streams[0], r.apps[0].cell.Cell
	s.chunks = s.chunks[:0]
	c.tape.key = true
	r.avatar(7).SetWithheld(true)
	r.avatar(8).Destroy() // the sweep is yet to come
	c.runTape()
	got := s.said(t)
	if strings.Count(got, "left, ended true") != 2 {
		t.Errorf("recorded\n%s", got)
	}
	r.tick(2)
	if got := s.said(t); strings.Contains(got, "7 is") || strings.Contains(got, "8 is") || !strings.Contains(got, "10 is") {
		t.Errorf("recorded\n%.500s", got)
	}
}

// A real that is too large is tried with each key frame, and counted.
func TestTapeTooLarge(t *testing.T) {
	var more []*property.Property
	for i := range 5 {
		more = append(more, &property.Property{Name: fmt.Sprint("big", i), Type: property.Scalar(property.KindString), Flags: property.AllClients})
	}
	r, sink := newRigOf(t, schemaOf(t, property.Compression{}, more...), 1), new(testSink)
	r.apps[0].population.env.Recorder = sink
	r.must(r.apps[0].cell.SetSpaceData(recording.Key, nil))
	r.create(7, 5, 0)
	r.create(8, 5, 0)
	r.tick(2)
	big := func(n int) {
		for _, p := range r.real(7).e.Def.Properties {
			if strings.HasPrefix(p.Name, "big") {
				r.must(r.real(7).e.Props.Set(p.Index, property.StringValue(strings.Repeat("x", n))))
			}
		}
	}
	big(60 << 10)
	r.pass(2*recording.KeyPeriod + time.Second)
	if n := r.apps[0].count.Unrecorded; n < 2 || n > 3 {
		t.Errorf("%d times it was too large", n)
	}
	sink.streams[0].chunks = nil
	big(1)
	r.move(7, 6)
	r.pass(recording.KeyPeriod)
	if got := sink.streams[0].said(t); !strings.Contains(got, "7 is 1/0 at 6") || strings.Contains(got, "0 goes") {
		t.Errorf("recorded\n%.500s", got)
	}
}

// A space that is not recorded costs nothing, and one that is allocates nothing in the steady tick.
func TestTapeAllocates(t *testing.T) {
	r, sink := recorded(t, 1)
	r.create(7, 5, 0)
	r.tick(3)
	c, a := r.apps[0].cell.Cell, r.avatar(7)
	sink.errors = nil
	discard := new(discards)
	c.tape.stream = discard
	x := float32(5)
	step := func() {
		x += 0.1
		a.e.MoveTo(c.tick, property.Vector3{X: x}, property.Vector3{})
		a.Hp.Set(uint32(x * 10))
		c.runTape()
	}
	step()
	if n := testing.AllocsPerRun(50, step); n > 0 {
		t.Errorf("%v allocations in a tick that is recorded", n)
	}
	if discard.bytes == 0 {
		t.Error("nothing was recorded")
	}
	r.must(c.RemoveSpaceData(recording.Key, 0))
	r.tick(1)
	if c.tape != nil {
		t.Fatal("it goes on")
	}
	if n := testing.AllocsPerRun(50, step); n > 0 {
		t.Errorf("%v allocations in a tick that is not recorded", n)
	}
}

type discards struct{ bytes int }

func (d *discards) Append(chunk []byte) error { d.bytes += len(chunk); return nil }
func (d *discards) Close() error              { return nil }
