package property

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property/internal/mpack"
	"github.com/vmihailenco/msgpack/v5"
)

// nested returns n arrays of one element around a nil.
func nested(n int) string { return strings.Repeat("\x91", n) + "\xc0" }

// hostileMsgpack is what an attacker would send: claims beyond the bytes, depth, and what has no
// business here. Every entry is refused for the stated reason, as an ANY and in the store alike
// unless it says otherwise.
var hostileMsgpack = []struct {
	name  string
	bytes string
	any   error // of mpack.ScanFree
	store error // of mpack.ScanStore
}{
	{"nothing", "", ErrTruncated, ErrTruncated},
	{"str of 4 GB", "\xdb\xff\xff\xff\xffab", ErrTruncated, ErrTruncated},
	{"bin of 4 GB", "\xc6\xff\xff\xff\xffab", ErrTruncated, ErrTruncated},
	{"array of 4 G elements", "\xdd\xff\xff\xff\xff\xc0", ErrTruncated, ErrTruncated},
	{"map of 4 G pairs", "\xdf\xff\xff\xff\xff\xc0\xc0", ErrTruncated, ErrTruncated},
	{"a claim that is refused before what follows is looked at", "\xdd\xff\xff\xff\xff\xc1", ErrTruncated, ErrTruncated},
	{"map one value short", "\x82\x01\x02\x03", ErrTruncated, ErrTruncated},
	{"array32 head alone", "\xdd\xff\xff", ErrTruncated, ErrTruncated},
	{"lists that together claim more than is there", "\x93\x93\xc0\xc0\xc0\x93\xc0\xc0\xc0\x93\xc0\xc0", ErrTruncated, ErrTruncated},
	{"a claim at every level", strings.Repeat("\xdc\x00\xff", 16) + strings.Repeat("\xc0", 300), ErrTruncated, ErrTruncated},
	{"one level too deep for an ANY", nested(MaxAnyDepth + 1), ErrLength, nil},
	{"one level too deep for the store", nested(mpack.MaxStoreDepth + 1), ErrLength, ErrLength},
	{"a million levels", nested(1 << 20), ErrLength, ErrLength},
	{"a million levels of maps", strings.Repeat("\x81\xc0", 1<<20) + "\xc0", ErrLength, ErrLength},
	{"one item too many for an ANY", "\xdc\x80\x00" + strings.Repeat("\xc0", 1<<15), ErrLength, nil},
	{"fixext", "\xd4\x01\x00", ErrValue, ErrValue},
	{"timestamp, which the library registers", "\xd6\xff\x00\x00\x00\x00", ErrValue, ErrValue},
	{"ext of 4 GB", "\xc9\xff\xff\xff\xff\x01", ErrValue, ErrValue},
	{"ext before a map, which the library skips", "\xd4\x01\x80", ErrValue, ErrValue},
	{"ext in a list", "\x91\xc7\x00\x01", ErrValue, ErrValue},
	{"the byte that is unused", "\xc1", ErrValue, ErrValue},
}

func TestScanRefuses(t *testing.T) {
	for _, c := range hostileMsgpack {
		if n, err := mpack.ScanFree([]byte(c.bytes)); !errors.Is(err, c.any) || c.any != nil && n != 0 {
			t.Errorf("%s: as an ANY %d, %v; want %v", c.name, n, err, c.any)
		}
		if _, err := mpack.ScanStore([]byte(c.bytes)); !errors.Is(err, c.store) {
			t.Errorf("%s: in the store %v; want %v", c.name, err, c.store)
		}
		b := []byte(c.bytes)
		if allocs := testing.AllocsPerRun(10, func() { _, _ = mpack.ScanFree(b) }); allocs > 4 { // the error
			t.Errorf("%s: %v allocations", c.name, allocs)
		}
	}
}

// formsOfMsgpack has every first byte that there is but extensions, in its shortest body.
func formsOfMsgpack() []string {
	forms := []string{"\xc0", "\xc2", "\xc3", "\x00", "\x7f", "\xe0", "\xff", "\x80", "\x90", "\xa0", "\xbf" + strings.Repeat("x", 31),
		"\x81\xa1k\x01", "\x9f" + strings.Repeat("\x01", 15)}
	for _, f := range []struct {
		c     byte
		width int
	}{{0xca, 4}, {0xcb, 8}, {0xcc, 1}, {0xcd, 2}, {0xce, 4}, {0xcf, 8}, {0xd0, 1}, {0xd1, 2}, {0xd2, 4}, {0xd3, 8}} {
		forms = append(forms, string([]byte{f.c})+strings.Repeat("\x85", f.width))
	}
	for _, head := range []string{"\xc4\x03", "\xc5\x00\x03", "\xc6\x00\x00\x00\x03", "\xd9\x03", "\xda\x00\x03", "\xdb\x00\x00\x00\x03"} {
		forms = append(forms, head+"abc")
	}
	for _, head := range []string{"\xdc\x00\x02", "\xdd\x00\x00\x00\x02", "\xde\x00\x01", "\xdf\x00\x00\x00\x01"} {
		forms = append(forms, head+"\xa1k\x90")
	}
	return append(forms, nested(MaxAnyDepth), "\xdc\x7f\xff"+strings.Repeat("\xc0", 1<<15-1))
}

// A value is as long as it is: what follows does not matter, and no shorter part of it is a value.
func TestScanLength(t *testing.T) {
	for _, f := range formsOfMsgpack() {
		if n, err := mpack.ScanFree([]byte(f + "\xc1\xdd")); err != nil || n != len(f) {
			t.Errorf("% x: %d, %v", f[:min(len(f), 12)], n, err)
		}
		for n := range min(len(f), 100) {
			if _, err := mpack.ScanFree([]byte(f[:n])); !errors.Is(err, ErrTruncated) {
				t.Errorf("% x: %d bytes of it: %v", f[:min(len(f), 12)], n, err)
			}
		}
	}
}

// The scanner and the library agree on what is well-formed and how long it is, for bytes within the
// scanner's bounds.
func FuzzScanMsgpack(f *testing.F) {
	for _, form := range formsOfMsgpack() {
		f.Add([]byte(form))
	}
	for _, h := range hostileMsgpack {
		if len(h.bytes) < 1000 { // the library's Skip recurses
			f.Add([]byte(h.bytes))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > MaxAny {
			return
		}
		n, err := mpack.ScanFree(b)
		if err != nil && n != 0 {
			t.Fatalf("length %d with %v", n, err)
		}
		if errors.Is(err, ErrLength) || err != nil && strings.Contains(err.Error(), "extension") {
			return
		}
		if strconv.IntSize == 32 {
			return // the library takes a length above an int for a negative one
		}
		src := bytes.NewReader(b)
		theirs := msgpack.NewDecoder(src).Skip()
		if (err == nil) != (theirs == nil) {
			t.Fatalf("scanner: %v; library: %v", err, theirs)
		}
		if err == nil && n != len(b)-src.Len() {
			t.Fatalf("scanner: %d bytes; library: %d", n, len(b)-src.Len())
		}
	})
}
