package recording

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

func schema(t testing.TB) *property.Schema {
	t.Helper()
	text, num := property.Scalar(property.KindString), property.Scalar(property.KindUint32)
	s, err := property.NewSchema(&property.Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
		Properties: []*property.Property{
			{Name: "name", Type: text, Flags: property.AllClients},
			{Name: "rank", Type: num, Flags: property.Base, ExposedForReplay: true},
		},
		ClientMethods: []*property.Method{{Name: "say", Args: []property.Arg{{Name: "text", Type: text}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told is a Reader that writes down what it is told.
type told struct {
	lines []string
	fail  error
}

func (x *told) add(format string, args ...any) error {
	x.lines = append(x.lines, fmt.Sprintf(format, args...))
	return x.fail
}

func (x *told) State(n uint32, s *ReadState) error {
	if s.Vehicle != 0 {
		_ = x.add("rider %d on %v %v", n, s.Vehicle, s.Seat)
	}
	return x.add("state %d: %v %v type %d %v cell %q base %v %q", n, s.ID, s.Order, s.Type, s.Spot, s.Cell, s.HasBase, s.Base)
}
func (x *told) Ride(n uint32, v entity.ID, at *Spot) error {
	return x.add("ride %d on %v %v", n, v, *at)
}
func (x *told) Place(n uint32, by *Spot) error { return x.add("place %d %v", n, *by) }
func (x *told) Change(n uint32, i int, b []byte) error {
	return x.add("change %d %d %q", n, i, b)
}
func (x *told) Call(n uint32, m int, own bool, b []byte) error {
	return x.add("call %d %d %v %q", n, m, own, b)
}
func (x *told) Left(n uint32, ended bool) error { return x.add("left %d %v", n, ended) }
func (x *told) Data(d *Datum) error {
	return x.add("data %d %d/%d %v %q", d.Number, d.Key, d.ID, d.Removed, d.Value)
}
func (x *told) AllData(last uint64, all []Datum) error {
	return x.add("all data %d: %d", last, len(all))
}
func (x *told) EndKey() error { return x.add("end of key") }
func (x *told) Close() error  { return x.add("close") }

// holder records the changes of values, as a cell does.
type holder struct {
	e *Encoder
	t *Track
	v *property.Values
}

func (h holder) PropertyChanged(c *property.Change) { h.e.Change(h.t, h.v, c) }

// sampleChunk has every kind of record.
func sampleChunk(t testing.TB, e *Encoder) []byte {
	d := schema(t).Types[0]
	v := property.NewValues(d, property.CellSide, nil)
	base := property.NewValues(d, property.BaseSide, nil)
	e.AllData(8, 1)
	x := Datum{Number: 9}
	x.Key, x.ID, x.Value = 5, 77, []byte("v")
	e.Datum(&x)
	s := State{ID: 3, Order: entity.Order{Incarnation: 1, Hop: 2}, Type: d.ID, Position: property.Vector3{X: 1, Z: -2}, Cell: v, Base: base}
	track, ok := e.State(nil, &s)
	if !ok {
		t.Fatal("a small entity is too large")
	}
	e.EndKey()
	v.SetHolder(holder{e, track, v})
	if err := v.Set(0, property.StringValue("Ada")); err != nil {
		t.Fatal(err)
	}
	e.Place(track, property.Vector3{X: 1.001, Z: -2}, property.Vector3{}) // less than the resolution
	e.Place(track, property.Vector3{X: 1.5, Z: -2}, property.Vector3{X: 1})
	e.Call(track, 0, true, []byte("hi"))
	e.Data(&x)
	e.GoneOn(track)
	s.ID, s.Base = 4, nil
	track, _ = e.State(nil, &s)
	e.End(track)
	s.ID, s.Vehicle, s.SeatPosition = 5, 3, property.Vector3{Y: 1}
	track, _ = e.State(nil, &s)
	e.Place(track, property.Vector3{Y: 2}, property.Vector3{})
	e.Ride(track, 4, property.Vector3{X: 1}, property.Vector3{X: 1})
	e.Ride(track, 0, property.Vector3{X: 9}, property.Vector3{})
	e.Place(track, property.Vector3{X: 10}, property.Vector3{})
	if track.Vehicle() != 0 {
		t.Error("it is still on a vehicle")
	}
	e.Close()
	return slices.Clone(e.Chunk(Head{Game: time.Second, Key: true}))
}

func TestChunk(t *testing.T) {
	var e Encoder
	chunk := sampleChunk(t, &e)
	var got told
	h, err := ReadChunk(chunk, &got)
	if err != nil || h != (Head{Game: time.Second, Key: true}) {
		t.Fatal(h, err)
	}
	want := `all data 8: 1
state 0: 0.3 1/2 type 0 [64 0 -128 0 0 0] cell "\x00" base true "\x00\x00\x00\x00"
end of key
change 0 0 "\x00\x03Ada"
place 0 [32 0 0 4096 0 0]
call 0 0 true "hi"
data 9 5/77 false "v"
left 0 false
state 0: 0.4 1/2 type 0 [64 0 -128 0 0 0] cell "\x03Ada" base false ""
left 0 true
rider 0 on 0.3 [0 64 0 0 0 0]
state 0: 0.5 1/2 type 0 [64 0 -128 0 0 0] cell "\x03Ada" base false ""
place 0 [0 64 0 0 0 0]
ride 0 on 0.4 [64 0 0 4096 0 0]
ride 0 on 0.0 [576 0 0 0 0 0]
place 0 [64 0 0 0 0 0]
close`
	if s := strings.Join(got.lines, "\n"); s != want {
		t.Errorf("read\n%s\nwant\n%s", s, want)
	}
	e.Reset()
	if e.Len() != 0 || len(e.Chunk(Head{})) != 2 {
		t.Errorf("after Reset there are %d bytes of records, and a chunk of %d", e.Len(), len(e.Chunk(Head{})))
	}
	// Every part of a chunk is an error, or what records it has.
	for n := range chunk {
		var part told
		if _, err := ReadChunk(chunk[:n], &part); err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	stop := errors.New("stop")
	if _, err := ReadChunk(chunk, &told{fail: stop}); !errors.Is(err, stop) {
		t.Errorf("the reader's error is %v", err)
	}
}

// An entity that is too large leaves no trace, and its alias is used again.
func TestTooLarge(t *testing.T) {
	d := &property.Definition{Name: "Big", HasCell: true, HasClient: true}
	for i := range 5 {
		d.Properties = append(d.Properties, &property.Property{Name: fmt.Sprint("p", i), Type: property.Scalar(property.KindString), Flags: property.AllClients})
	}
	s, err := property.NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	v := property.NewValues(s.Types[0], property.CellSide, nil)
	var e Encoder
	e.EndKey()
	before := slices.Clone(e.Chunk(Head{}))
	for i := range 5 {
		if err := v.Set(i, property.StringValue(strings.Repeat("x", 60<<10))); err != nil {
			t.Fatal(err)
		}
	}
	if track, ok := e.State(nil, &State{ID: 1, Cell: v}); ok || track != nil || !bytes.Equal(e.Chunk(Head{}), before) {
		t.Fatal("300 KB of properties were taken")
	}
	if track, ok := e.State(nil, &State{ID: 1, Cell: property.NewValues(s.Types[0], property.CellSide, nil)}); !ok || track.alias != 0 {
		t.Error("the alias is lost")
	}
}

// A place comes back within half of the resolution, wherever it is.
func TestSpot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	at := func(most float64) float32 { return float32((r.Float64()*2 - 1) * most) }
	for range 10_000 {
		p := property.Vector3{X: at(1000), Y: at(100), Z: at(1e5)}
		d := property.Vector3{X: at(math.Pi), Y: at(1), Z: at(10)}
		s := SpotOf(p, d)
		q, f := s.Position(), s.Direction()
		for _, x := range [][3]float64{{float64(p.X), float64(q.X), Resolution}, {float64(p.Y), float64(q.Y), Resolution}, {float64(p.Z), float64(q.Z), Resolution},
			{float64(d.X), float64(f.X), Turn}, {float64(d.Y), float64(f.Y), Turn}, {float64(d.Z), float64(f.Z), Turn}} {
			if off := math.Abs(x[0] - x[1]); off > x[2]/2+math.Abs(x[0])/(1<<23) {
				t.Fatalf("%v is %v, off by %v", x[0], x[1], off)
			}
		}
	}
	far := Spot{maxSteps}
	if by := (Spot{1 << 40}); far.Add(&by) {
		t.Error("a place beyond every space was taken")
	}
}

func sampleLog(t testing.TB) []byte {
	b := AppendLog(nil, &Header{Digest: [16]byte{1}, Space: 2, Number: 3, Label: "four", App: "five", Cell: "six"})
	var e Encoder
	b = AppendFrame(b, sampleChunk(t, &e))
	e.Reset()
	e.EndKey()
	return AppendFrame(b, e.Chunk(Head{Game: 2 * time.Second}))
}

func TestLog(t *testing.T) {
	b := sampleLog(t)
	l, err := ReadLog(bytes.NewReader(b), int64(len(b)))
	if err != nil || l.Truncated != nil || l.Len() != 2 || l.Label != "four" || l.Head(1) != (Head{Game: 2 * time.Second}) || !l.Head(0).Key {
		t.Fatalf("%+v, %v", l, err)
	}
	var got told
	if err := l.Read(1, &got); err != nil || len(got.lines) != 1 {
		t.Error(got.lines, err)
	}
	// A log that ends anywhere is good up to its last whole chunk, and one with a wrong byte up to there.
	for n := range b {
		l, err := ReadLog(bytes.NewReader(b[:n]), int64(n))
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
		if err == nil && l.Len() == 2 {
			t.Fatalf("%d of %d bytes have both chunks", n, len(b))
		}
		wrong := slices.Clone(b)
		wrong[n] ^= 1
		if l, err := ReadLog(bytes.NewReader(wrong), int64(len(b))); err == nil && l.Truncated == nil {
			t.Fatalf("byte %d is wrong, and nobody says so", n)
		}
	}
	if _, err := ReadLog(bytes.NewReader([]byte("cellrec\x02")), 8); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

// What version 1 wrote is read, and what nobody has written yet is refused with its version.
func TestVersions(t *testing.T) {
	b, err := os.ReadFile("testdata/version1.cellrec")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLog(bytes.NewReader(b), int64(len(b)))
	if err != nil || l.Truncated != nil || l.Len() != 2 || l.Label != "four" {
		t.Fatalf("%+v, %v", l, err)
	}
	var got told
	if err := l.Read(0, &got); err != nil || len(got.lines) != 11 {
		t.Error(got.lines, err)
	}
	for _, version := range []byte{0, Version + 1} {
		header := (&Header{}).Append(nil)
		header[0] = version
		b := AppendFrame([]byte(magic), header)
		_, err := ReadLog(bytes.NewReader(b), int64(len(b)))
		if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), fmt.Sprintf("version %d,", version)) {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

func FuzzChunk(f *testing.F) {
	var e Encoder
	f.Add(sampleChunk(f, &e))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got told
		if _, err := ReadChunk(b, &got); err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	})
}

func FuzzLog(f *testing.F) {
	f.Add(sampleLog(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadLog(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		for i := range l.Len() {
			_ = l.Read(i, new(told))
		}
	})
}

// A cell that records allocates nothing in the steady tick.
func TestEncoderAllocatesNothing(t *testing.T) {
	var e Encoder
	v := property.NewValues(schema(t).Types[0], property.CellSide, nil)
	track, _ := e.State(nil, &State{ID: 1, Cell: v})
	x := float32(0)
	args := []byte("hello")
	if n := testing.AllocsPerRun(100, func() {
		e.Reset()
		x++
		e.Place(track, property.Vector3{X: x}, property.Vector3{Y: x})
		e.Call(track, 0, false, args)
		e.Change(track, v, &property.Change{Index: 0, New: v.Get(0)})
		_ = e.Chunk(Head{Game: time.Duration(x) * time.Second})
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
