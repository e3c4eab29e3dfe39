package property

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const packLimit = 256 << 10

// textStream is n bytes as a type with much text has them.
func textStream(n int) []byte {
	const text = "The harbour master of Port Ostrava counts every sail and forgets no debt; whoever owes him pays in rum. "
	b := []byte(strings.Repeat(text, n/len(text)+1))
	for i := 0; i+37 < n; i += 37 { // no text repeats itself so
		b[i] = byte('a' + i*7%26)
	}
	return b[:n]
}

func noise(n int) []byte {
	r, b := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestPackRoundTrip(t *testing.T) {
	streams := map[string][]byte{
		"empty": {}, "short": textStream(MinPacked - 1), "shortest": textStream(MinPacked), "text": textStream(4 << 10),
		"zeros": make([]byte, 64<<10), "noise": noise(4 << 10), "limit": textStream(packLimit), "above": textStream(packLimit + 1),
	}
	deflated := []string{"shortest", "text", "zeros", "limit"}
	var c, reader Compressor
	for name, stream := range streams {
		for p := Packing(1); p <= 9; p += 4 {
			b := c.Pack([]byte("before"), stream, p, packLimit)
			packed := b[len("before"):]
			if want := slices.Contains(deflated, name); (packed[0] == formDeflate) != want || string(b[:6]) != "before" {
				t.Errorf("%s, level %d: form %d", name, p, packed[0])
			}
			if len(packed) > len(stream)+1 {
				t.Errorf("%s, level %d: %d bytes out of %d", name, p, len(packed), len(stream))
			}
			limit := max(packLimit, len(stream))
			for who, r := range map[string]*Compressor{"own": &reader, "nil": nil} {
				if got, err := r.Unpack(packed, 1, limit); err != nil || !bytes.Equal(got, stream) {
					t.Errorf("%s, level %d, %s: %d bytes, %v", name, p, who, len(got), err)
				}
			}
			if _, err := reader.Unpack(packed, 1, len(stream)-1); !errors.Is(err, ErrLength) {
				t.Errorf("%s, level %d: above the limit: %v", name, p, err)
			}
			if again := new(Compressor).Pack(nil, stream, p, packLimit); !bytes.Equal(again, packed) {
				t.Errorf("%s, level %d: another Compressor makes other bytes", name, p)
			}
			if plain := (*Compressor)(nil).Pack(nil, stream, p, packLimit); plain[0] != formPlain || !bytes.Equal(plain[1:], stream) {
				t.Errorf("%s: a nil Compressor packs", name)
			}
		}
		if got := c.Pack(nil, stream, Unpacked, 0); !bytes.Equal(got, stream) {
			t.Errorf("%s: unpacked is not the stream", name)
		}
	}
}

// A type that is not packed has no form byte; one that is comes back from what it was packed to.
func TestPackedStreams(t *testing.T) {
	for _, compression := range []Compression{{}, {"NONE", "ZIP"}, {"ZIP_BEST_SPEED", ""}, {"ZIP_6", "ZIP_BEST_COMPRESSION"}} {
		v := packedValues(t, compression, string(textStream(600)))
		for _, dom := range []Stream{GhostStream, CellStream, OwnClientCellStream} {
			var c Compressor
			plain := v.AppendStream(nil, dom)
			b := c.AppendStream(nil, v, dom, packLimit)
			if p := v.def.Packing(dom); p == Unpacked != bytes.Equal(b, plain) || p != Unpacked && len(b) >= len(plain) {
				t.Errorf("%v, %v: %d bytes out of %d", compression, dom, len(b), len(plain))
			}
			asIs := (*Compressor)(nil).AppendStream(nil, v, dom, packLimit)
			for _, b := range [][]byte{b, asIs} {
				if !v.def.Packing(dom).packs() && len(b) != len(plain) {
					t.Errorf("%v, %v: %d bytes of a stream of %d", compression, dom, len(b), len(plain))
				}
				w := packedValues(t, compression, "")
				if err := c.ReadStream(b, w, dom, packLimit); err != nil {
					t.Errorf("%v, %v: %v", compression, dom, err)
				}
				if !bytes.Equal(w.AppendStream(nil, dom), plain) {
					t.Errorf("%v, %v: not what was packed", compression, dom)
				}
			}
		}
	}
}

func (p Packing) packs() bool { return p != Unpacked }

func packedValues(t testing.TB, c Compression, text string) *Values {
	t.Helper()
	s, err := NewSchema(&Definition{Name: "A", HasCell: true, HasClient: true, Compression: c,
		Properties: []*Property{{Name: "text", Type: Scalar(KindString), Flags: AllClients}, {Name: "n", Type: Scalar(KindInt32), Flags: AllClients}}})
	if err != nil {
		t.Fatal(err)
	}
	v := NewValues(s.Types[0], CellSide, nil)
	if err := v.Set(0, StringValue(text)); err != nil {
		t.Fatal(err)
	}
	return v
}

// deflated is a packed stream that claims n bytes and deflates b.
func deflated(n uint64, b []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, 9)
	_, _ = w.Write(b)
	_ = w.Close()
	return append(binary.AppendUvarint([]byte{formDeflate}, n), out.Bytes()...)
}

func TestUnpackHostile(t *testing.T) {
	good := deflated(4<<10, textStream(4<<10))
	megabyte := make([]byte, 1<<20)
	for _, c := range []struct {
		name   string
		packed []byte
		want   error
	}{
		{"nothing", nil, ErrTruncated},
		{"unknown form", []byte{2}, ErrValue},
		{"another unknown form", append([]byte{255}, good[1:]...), ErrValue},
		{"no length", []byte{formDeflate}, ErrTruncated},
		{"half a length", []byte{formDeflate, 0x80}, ErrTruncated},
		{"long length", []byte{formDeflate, 0x80, 0x00, 0x03, 0x00}, ErrLength},
		{"endless length", append([]byte{formDeflate}, bytes.Repeat([]byte{0xff}, 12)...), ErrLength},
		{"huge length", binary.AppendUvarint([]byte{formDeflate}, 1<<63), ErrLength},
		{"bomb", deflated(1<<20, megabyte), ErrLength},
		{"bomb that claims little", deflated(1000, megabyte), ErrLength},
		{"claim without bytes", binary.AppendUvarint([]byte{formDeflate}, packLimit), ErrLength},
		{"claim beyond what deflate can", deflated(packLimit, []byte("abc")), ErrLength},
		{"claim above what there is", deflated(200, []byte("abc")), ErrTruncated},
		{"empty", deflated(0, nil), nil},
		{"missing end", good[:len(good)-1], ErrTruncated},
		{"missing half", good[:len(good)/2], ErrTruncated},
		{"trailing byte", append(slices.Clone(good), 0), ErrTrailing},
		{"second stream", append(slices.Clone(good), good[3:]...), ErrTrailing},
		{"bad block", append(binary.AppendUvarint([]byte{formDeflate}, 200), 0x07, 0xff, 0xff), ErrValue},
		{"plain above the limit", make([]byte, packLimit+2), ErrLength},
	} {
		var comp Compressor
		_, _ = comp.Unpack(deflated(1, []byte("x")), 1, packLimit) // the reader's own memory
		var err error
		if n := allocated(func() { _, err = comp.Unpack(c.packed, 1, packLimit) }); n > uint64(unpackBound(c.packed)) {
			t.Errorf("%s: %d bytes allocated", c.name, n)
		}
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		// What is refused spoils nothing.
		if got, err := comp.Unpack(good, 1, packLimit); err != nil || !bytes.Equal(got, textStream(4<<10)) {
			t.Errorf("%s: then %v", c.name, err)
		}
	}
}

// unpackBound is what unpacking may allocate: the stream, which is no longer than the limit nor
// than deflate could make it, and what a dynamic block's tables take.
func unpackBound(packed []byte) int { return min(packLimit, maxRatio*len(packed)) + 64<<10 }

// A stream that cannot be read whole changes nothing.
func TestReadStreamLeftOver(t *testing.T) {
	v := packedValues(t, Compression{"ZIP", "ZIP"}, "before")
	was := v.AppendStream(nil, GhostStream)
	long := append(packedValues(t, Compression{}, "after").AppendStream(nil, GhostStream), 0)
	var c Compressor
	if err := c.ReadStream(c.Pack(nil, long, 1, packLimit), v, GhostStream, packLimit); !errors.Is(err, ErrTrailing) {
		t.Error(err)
	}
	if err := c.ReadStream([]byte{9}, v, GhostStream, packLimit); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "A: ghost stream") {
		t.Error(err)
	}
	if !bytes.Equal(v.AppendStream(nil, GhostStream), was) {
		t.Error("values changed")
	}
}

func TestPackAllocatesNothing(t *testing.T) {
	v := packedValues(t, Compression{"ZIP", "ZIP_6"}, string(textStream(4<<10)))
	var c Compressor
	var b []byte
	hard := noise(4 << 10)
	pack := func() {
		b = c.AppendStream(b[:0], v, GhostStream, packLimit)
		b = c.AppendStream(b[:0], v, OwnClientCellStream, packLimit)
		b = c.Pack(b[:0], hard, 1, packLimit)
	}
	pack()
	if n := testing.AllocsPerRun(20, pack); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(deflated(4<<10, textStream(4<<10)))
	f.Add(deflated(1<<20, make([]byte, 1<<20)))
	f.Add(deflated(packLimit, make([]byte, packLimit)))
	f.Add(append([]byte{formPlain}, textStream(200)...))
	f.Add(new(Compressor).Pack(nil, noise(300), 1, packLimit))
	f.Add([]byte{formDeflate, 0x80, 0x00})
	f.Fuzz(func(t *testing.T, packed []byte) {
		var c Compressor
		_, _ = c.Unpack(deflated(1, []byte("x")), 1, packLimit)
		var stream []byte
		var err error
		if n := allocated(func() { stream, err = c.Unpack(packed, 1, packLimit) }); n > uint64(unpackBound(packed)) {
			t.Fatalf("%d bytes allocated for %d", n, len(packed))
		}
		if err != nil {
			if !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrLength) && !errors.Is(err, ErrValue) && !errors.Is(err, ErrTrailing) {
				t.Fatal(err)
			}
			return
		}
		if len(stream) > packLimit {
			t.Fatalf("%d bytes", len(stream))
		}
		stream = slices.Clone(stream)
		again, err := c.Unpack(c.Pack(nil, stream, 1, packLimit), 1, packLimit)
		if err != nil || !bytes.Equal(again, stream) {
			t.Fatalf("packed again: %v", err)
		}
	})
}

// Packing and unpacking the stream of an avatar, and of one with 4 KB of text; and how much it
// saves.
func BenchmarkPack(b *testing.B) {
	v := NewValues(benchDefinition(b), CellSide, nil)
	fillBench(b, v)
	avatar := v.AppendStream(nil, GhostStream)
	streams := []struct {
		name   string
		stream []byte
	}{{"avatar", avatar}, {"blank", NewValues(v.def, CellSide, nil).AppendStream(nil, GhostStream)}, {"text4K", textStream(4 << 10)}, {"noise4K", noise(4 << 10)}}
	for _, s := range streams {
		for _, p := range []Packing{1, 6, 9} {
			b.Run(fmt.Sprintf("%s/ZIP_%d", s.name, p), func(b *testing.B) {
				var c Compressor
				out := c.Pack(nil, s.stream, p, packLimit)
				b.ReportAllocs()
				for b.Loop() {
					out = c.Pack(out[:0], s.stream, p, packLimit)
				}
				b.ReportMetric(float64(len(s.stream)), "bytes")
				b.ReportMetric(float64(len(out)), "packed")
			})
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	for _, n := range []int{MinPacked, 4 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var c Compressor
			packed := c.Pack(nil, textStream(n), 1, packLimit)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Unpack(packed, 1, packLimit); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
