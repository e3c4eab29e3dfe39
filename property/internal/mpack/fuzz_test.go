package mpack_test

import (
	"testing"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// What a scan lets through is decoded or refused, within the bounds of the scan.
func FuzzDecode(f *testing.F) {
	for _, b := range [][]byte{{0xc0}, {0xc3}, {0x7f}, {0x92, 1, 0xa1, 'x'}, {0x81, 0xa1, 'k', 0xcb, 0, 0, 0, 0, 0, 0, 0, 0}, {0xdd, 0xff, 0xff, 0xff, 0xff}, {0xc7, 1, 0, 0}} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := mpack.ScanFree(b)
		if err != nil {
			return
		}
		_, err = mpack.Decode(b[:n])
		if _, again := mpack.Decode(b[:n]); (again == nil) != (err == nil) {
			t.Errorf("%x: %v, and then %v", b, err, again)
		}
	})
}
