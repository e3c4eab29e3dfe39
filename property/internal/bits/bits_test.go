package bits_test

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/property/internal/bits"
)

func Example() {
	var w bits.Writer
	w.Put(1, 1)
	w.Put(700, bits.Of(1000))
	r := bits.NewReader(w.Close())
	fmt.Println(len(w.Bytes), r.Get(1), r.Get(bits.Of(1000)))
	_, short, clean := r.Close()
	fmt.Println(short, clean)
	// Output:
	// 2 1 700
	// false true
}

// Any bytes give numbers within their bits, and only bytes that are too few are short.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0xff, 1}, uint8(11), uint8(4))
	f.Add([]byte{}, uint8(0), uint8(32))
	f.Fuzz(func(t *testing.T, b []byte, n, m uint8) {
		n, m = n%33, m%33
		r := bits.NewReader(b)
		if x := r.Get(uint(n)); x>>n != 0 {
			t.Fatalf("%d bits hold %d", n, x)
		}
		_, missing, _ := r.Close()
		if missing != (int(n) > 8*len(b)) {
			t.Fatalf("short is %v after %d bits of %d bytes", missing, n, len(b))
		}
		if y := r.Get(uint(m)); y>>m != 0 {
			t.Fatalf("%d bits hold %d", m, y)
		}
	})
}
