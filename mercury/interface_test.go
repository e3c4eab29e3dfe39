package mercury

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// heard is one message as a handler got it.
type heard struct {
	ID   int
	Body string
}

// listener is the context of the tests' handlers.
type listener struct {
	got   []heard
	fail  map[int]error // by place in got
	after func()
}

var errHandler = errors.New("handler")

// testTable has a message of every length and size of id.
func testTable(t testing.TB) *Interface[*listener] {
	t.Helper()
	var lines []Message[*listener]
	for _, m := range []struct {
		id     int
		name   string
		length Length
	}{{0, "enable", Empty}, {7, "move", 12}, {9, "say", Variable}, {127, "last of one byte", 1}, {128, "first of two", Variable}, {MaxMessageID, "last", 2}} {
		lines = append(lines, Message[*listener]{ID: m.id, Name: m.name, Length: m.length, Handler: func(l *listener, r *Reader) error {
			l.got = append(l.got, heard{m.id, string(r.Rest())})
			if l.after != nil {
				l.after()
			}
			return l.fail[len(l.got)-1]
		}})
	}
	lines = append(lines,
		Message[*listener]{ID: 20, Name: "two fields", Length: Variable, Handler: func(l *listener, r *Reader) error {
			l.got = append(l.got, heard{20, string(binary.LittleEndian.AppendUint16(nil, r.U16()))})
			return nil
		}},
		Message[*listener]{ID: 21, Name: "sent only", Length: 1})
	slices.Reverse(lines) // the order of the lines does not matter
	table, err := NewInterface("test", lines...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func appendAll(t testing.TB, table *Interface[*listener], msgs ...heard) (b []byte) {
	t.Helper()
	for _, m := range msgs {
		var err error
		if b, err = table.Append(b, m.ID, []byte(m.Body)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestInterfaceFaults(t *testing.T) {
	_, err := NewInterface("bad",
		Message[int]{ID: 1, Name: "a", Length: 4},
		Message[int]{ID: 1, Name: "b", Length: Variable},
		Message[int]{ID: 2, Name: "a", Length: Empty},
		Message[int]{ID: 3, Name: "forgotten"},
		Message[int]{ID: 4, Length: -3},
		Message[int]{ID: MaxMessageID + 1, Name: "c", Length: MaxFixedLength + 1},
		Message[int]{ID: -1, Name: "d", Length: 1},
	)
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`mercury: interface bad, message 1 "b": has the id of "a": take another`,
		`mercury: interface bad, message 2 "a": has the name of message 1: take another`,
		`mercury: interface bad, message 3 "forgotten": has length 0: take 1 to 65536, Variable, or Empty for none`,
		`mercury: interface bad, message 4 "": has no name: give it one, for errors and statistics`,
		`mercury: interface bad, message 4 "": has length -3: take 1 to 65536, Variable, or Empty for none`,
		`mercury: interface bad, message 16384 "c": take an id from 0 to 16383`,
		`mercury: interface bad, message 16384 "c": has length 65537: take 1 to 65536, Variable, or Empty for none`,
		`mercury: interface bad, message -1 "d": take an id from 0 to 16383`,
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestBundleTwin writes random messages, some abandoned, and wants the same back in order; also the sizes that the table promises.
func TestBundleTwin(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		table := testTable(t)
		var bundle []byte
		var want []heard
		size := 0
		for range rng.IntN(20) {
			id := []int{0, 7, 9, 127, 128, MaxMessageID}[rng.IntN(6)]
			n := max(0, int(table.find(uint64(id)).Length))
			if id == 9 || id == 128 {
				n = []int{0, 1, 254, 255, 256, 70000}[rng.IntN(6)]
			}
			body := make([]byte, n)
			for i := range body {
				body[i] = byte(rng.Uint32())
			}
			var m Mark
			bundle, m = table.Begin(bundle, id)
			bundle = append(bundle, body...)
			if rng.IntN(4) == 0 {
				bundle = table.Abandon(bundle, m)
				continue
			}
			var err error
			if bundle, err = table.End(bundle, m); err != nil {
				t.Fatal(err)
			}
			size += wireSize(table, id, n)
			want = append(want, heard{id, string(body)})
		}
		if len(bundle) != size {
			t.Fatalf("seed %d: %d bytes, want %d", seed, len(bundle), size)
		}
		var l listener
		rest, err := table.Dispatch(&l, bundle)
		if diff := cmp.Diff(want, l.got); diff != "" || rest != nil || err != nil {
			t.Fatalf("seed %d: rest %x, error %v\n%s", seed, rest, err, diff)
		}
	}
}

func wireSize(table *Interface[*listener], id, n int) int {
	size := n + 1
	if id > 127 {
		size++
	}
	if table.find(uint64(id)).Length == Variable {
		size++
		if n >= 255 {
			size += len(binary.AppendUvarint(nil, uint64(n)))
		}
	}
	return size
}

func TestBundleWriterFaults(t *testing.T) {
	table := testTable(t)
	before := appendAll(t, table, heard{0, ""})
	for _, test := range []struct {
		name string
		id   int
		body string
		want error
	}{
		{"unknown", 1, "x", ErrUnknownMessage},
		{"negative", -1, "x", ErrUnknownMessage},
		{"above", MaxMessageID + 1, "", ErrUnknownMessage},
		{"fixed too short", 7, "x", ErrLength},
		{"fixed too long", 7, "1234567890123", ErrLength},
		{"empty with body", 0, "x", ErrLength},
	} {
		b, err := table.Append(before, test.id, []byte(test.body))
		var fault *MessageError
		if !errors.As(err, &fault) || !errors.Is(err, test.want) || fault.ID != test.id || fault.Offset != len(before) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		if !bytes.Equal(b, before) {
			t.Errorf("%s: the bundle is %x, want %x", test.name, b, before)
		}
	}
	begun, m := table.Begin(before, 9)
	long := make([]byte, len(begun)+MaxMaxMessage+1)
	copy(long, begun)
	if b, err := table.End(long, m); !errors.Is(err, ErrLength) || !bytes.Equal(b, before) {
		t.Errorf("too long: error %v, %d bytes left of %d", err, len(b), len(before))
	}
	for s := range table.Stats() {
		if s.ID != 0 && s.Out.Messages != 0 {
			t.Errorf("message %d that was taken back is counted", s.ID)
		}
	}
}

func TestDispatchFaults(t *testing.T) {
	table := testTable(t)
	one := appendAll(t, table, heard{9, "one"})
	for _, test := range []struct {
		name string
		tail string
		want error
		id   int
		msg  string
	}{
		{"unknown", "\x01abc", ErrUnknownMessage, 1, ""},
		{"unknown of two bytes", "\x85\x02", ErrUnknownMessage, 261, ""},
		{"beyond ids", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ErrUnknownMessage, 1<<31 - 1, ""},
		{"id cut", "\x80", ErrShort, -1, ""},
		{"id padded", "\x87\x00", ErrValue, -1, ""},
		{"fixed cut", "\x07abc", ErrShort, 7, "move"},
		{"length missing", "\x09", ErrShort, 9, "say"},
		{"body cut", "\x09\x04abc", ErrShort, 9, "say"},
		{"escape cut", "\x09\xff", ErrShort, 9, "say"},
		{"escape of a short length", "\x09\xff\x03abc", ErrValue, 9, "say"},
		{"escape of 254", "\x09\xff\xfe\x01" + strings.Repeat("x", 254), ErrValue, 9, "say"},
		{"length of 2^63", "\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", ErrShort, 9, "say"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var l listener
			rest, err := table.Dispatch(&l, append(bytes.Clone(one), test.tail...))
			var fault *MessageError
			if !errors.As(err, &fault) || !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if fault.ID != test.id || fault.Name != test.msg || fault.Offset != len(one) || fault.Interface != "test" {
				t.Errorf("error %+v, want message %d %q at %d", fault, test.id, test.msg, len(one))
			}
			if diff := cmp.Diff([]heard{{9, "one"}}, l.got); diff != "" || rest != nil {
				t.Errorf("rest %x\n%s", rest, diff)
			}
		})
	}
	if unknown, malformed := table.Faults(); unknown != 3 || malformed != 9 {
		t.Errorf("%d unknown and %d malformed, want 3 and 9", unknown, malformed)
	}
}

// TestDispatchHandlerErrors wants an error of a handler, and a body that was not read right, to cost that message alone.
func TestDispatchHandlerErrors(t *testing.T) {
	table := testTable(t)
	bundle := appendAll(t, table, heard{9, "a"}, heard{20, "x"}, heard{20, "xyz"}, heard{21, "x"}, heard{7, "123456789012"})
	l := listener{fail: map[int]error{0: errHandler}}
	rest, err := table.Dispatch(&l, bundle)
	want := []heard{{9, "a"}, {20, "\x00\x00"}, {20, "xy"}, {7, "123456789012"}}
	if diff := cmp.Diff(want, l.got); diff != "" || rest != nil || err != nil {
		t.Fatalf("rest %x, error %v\n%s", rest, err, diff)
	}
	var stats []MessageStats
	for s := range table.Stats() {
		if s.In.Messages > 0 {
			stats = append(stats, s)
		}
	}
	wantStats := []MessageStats{
		{ID: 7, Name: "move", In: MessageCount{1, 13, 13}, Out: MessageCount{1, 13, 13}},
		{ID: 9, Name: "say", In: MessageCount{1, 3, 3}, Out: MessageCount{1, 3, 3}, Errors: 1, LastError: errHandler},
		{ID: 20, Name: "two fields", In: MessageCount{2, 8, 5}, Out: MessageCount{2, 8, 5}, Errors: 2, LastError: ErrTrailing},
		{ID: 21, Name: "sent only", In: MessageCount{1, 2, 2}, Out: MessageCount{1, 2, 2}, Errors: 1, LastError: ErrUnknownMessage},
	}
	if diff := cmp.Diff(wantStats, stats, cmpopts.EquateErrors()); diff != "" {
		t.Error(diff)
	}
}

// TestDispatchStop has handlers stop a bundle and takes up the rest.
func TestDispatchStop(t *testing.T) {
	table := testTable(t)
	msgs := []heard{{9, "a"}, {0, ""}, {128, "b"}, {7, "123456789012"}}
	bundle := appendAll(t, table, msgs...)
	for stop := range msgs {
		for _, how := range []error{ErrStop, ErrStopBefore} {
			l := listener{fail: map[int]error{stop: how}}
			rest, err := table.Dispatch(&l, bundle)
			if err != nil || rest == nil || len(l.got) != stop+1 {
				t.Fatalf("stopped at %d: heard %v, rest %x, error %v", stop, l.got, rest, err)
			}
			from := stop
			if how == ErrStop {
				from++
			}
			var next listener
			if again, err := table.Dispatch(&next, rest); again != nil || err != nil {
				t.Fatalf("the rest: %x, %v", again, err)
			}
			if diff := cmp.Diff(msgs[from:], next.got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("stopped at %d with %v: %s", stop, how, diff)
			}
		}
	}
	for s := range table.Stats() {
		if s.In.Messages > 0 && (s.Errors > 0 || s.In.Messages != 8) {
			t.Errorf("%s: %d messages and %d errors, want each bundle handled once in two parts", s.Name, s.In.Messages, s.Errors)
		}
	}
}

// TestDispatchWithinHandler gives a bundle to the table from inside a handler.
func TestDispatchWithinHandler(t *testing.T) {
	table := testTable(t)
	inner := appendAll(t, table, heard{20, "in"}, heard{20, "to"})
	l := &listener{}
	l.after = func() {
		l.after = nil
		if _, err := table.Dispatch(l, inner); err != nil {
			t.Error(err)
		}
	}
	if _, err := table.Dispatch(l, appendAll(t, table, heard{9, "a"}, heard{9, "b"})); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]heard{{9, "a"}, {20, "in"}, {20, "to"}, {9, "b"}}, l.got); diff != "" {
		t.Error(diff)
	}
}

// sum is a context whose handlers keep nothing.
type sum struct{ n uint64 }

func sumTable(t testing.TB) *Interface[*sum] {
	t.Helper()
	table, err := NewInterface("sum",
		Message[*sum]{ID: 1, Name: "fixed", Length: 8, Handler: func(s *sum, r *Reader) error { s.n += r.U64(); return nil }},
		Message[*sum]{ID: 2, Name: "variable", Length: Variable, Handler: func(s *sum, r *Reader) error { s.n += uint64(len(r.Rest())); return nil }},
	)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func sumBundle(t testing.TB, table *Interface[*sum], b []byte) []byte {
	var m Mark
	var err error
	for i := range 10 {
		b, m = table.Begin(b, 1+i%2)
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
		if b, err = table.End(b, m); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestInterfaceDoesNotAllocate(t *testing.T) {
	table, s, b := sumTable(t), &sum{}, make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := table.Dispatch(s, sumBundle(t, table, b)); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a bundle", n)
	}
}

// BenchmarkBundle writes and dispatches a bundle of ten messages of 8 bytes, fixed and variable in turn.
func BenchmarkBundle(b *testing.B) {
	table, s, buf := sumTable(b), &sum{}, make([]byte, 0, 1000)
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			sumBundle(b, table, buf)
		}
	})
	bundle := sumBundle(b, table, buf)
	b.Run("dispatch", func(b *testing.B) {
		for b.Loop() {
			_, _ = table.Dispatch(s, bundle)
		}
	})
}

// FuzzDispatch dispatches arbitrary bundles, with a handler that stops at some message: what was handled and the rest make up what
// was given, byte by byte, up to the first fault.
func FuzzDispatch(f *testing.F) {
	table := testTable(f)
	f.Add(-1, false, appendAll(f, table, heard{0, ""}, heard{7, "123456789012"}, heard{9, "hello"}))
	f.Add(1, true, appendAll(f, table, heard{128, strings.Repeat("x", 300)}, heard{MaxMessageID, "ab"}, heard{127, "c"}))
	f.Add(0, false, appendAll(f, table, heard{9, ""}, heard{20, "ab"}, heard{21, "c"}))
	f.Add(-1, false, []byte("\x09\x04abc"))
	f.Add(-1, false, []byte("\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, stop int, before bool, bundle []byte) {
		table := testTable(t)
		l := listener{fail: map[int]error{stop: ErrStop}}
		if before {
			l.fail[stop] = ErrStopBefore
		}
		rest, err := table.Dispatch(&l, bundle)
		if rest != nil && err != nil {
			t.Fatal("both a rest and an error")
		}
		end := len(bundle) - len(rest)
		var fault *MessageError
		if errors.As(err, &fault) {
			end = fault.Offset
		}
		var in uint64
		for s := range table.Stats() {
			in += s.In.Bytes
		}
		if in != uint64(end) {
			t.Fatalf("%d bytes handled, want %d", in, end)
		}
		if before && rest != nil {
			l.got = l.got[:stop]
		}
		var again []byte
		for _, m := range l.got {
			if m.ID == 20 {
				return // may have been read in part
			}
			again, err = table.Append(again, m.ID, []byte(m.Body))
			if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Contains(bundle[:end], []byte{21}) && !bytes.Equal(again, bundle[:end]) {
			t.Fatalf("%x reads as %v, which is %x", bundle[:end], l.got, again)
		}
	})
}
