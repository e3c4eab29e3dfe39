package stream

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cellscape/cellscape/mercury"
)

var testLimits = limits{reliable: 1000, unreliable: 100}

func frame(k kind, n int) []byte {
	return append(appendHeader(nil, k, n), make([]byte, n)...)
}

func TestScan(t *testing.T) {
	two := append(frame(frameReliable, 10), frame(framePing, 0)...)
	tests := []struct {
		name  string
		in    []byte
		whole int
		err   error
	}{
		{"nothing", nil, 0, nil},
		{"half a header", two[:3], 0, nil},
		{"half a body", two[:9], 0, nil},
		{"two", two, 18, nil},
		{"two and a bit", append(two[:18:18], two[:7]...), 18, nil},
		{"longest", frame(frameReliable, 1000), 1004, nil},
		{"too long, by its header alone", appendHeader(two[:18:18], frameReliable, 1001), 18, mercury.ErrMessageTooLong},
		{"longest length", bytes.Repeat([]byte{0xF4}, 4), 0, mercury.ErrMessageTooLong},
		{"unreliable too long", frame(frameUnreliable, 101), 0, mercury.ErrMessageTooLong},
		{"zeros", make([]byte, 8), 0, mercury.ErrProtocol},
		{"hello again", frame(frameHello, helloSize), 0, mercury.ErrProtocol},
		{"unknown", frame(15, 0), 0, mercury.ErrProtocol},
		{"ping with a body", frame(framePing, 1), 0, mercury.ErrProtocol},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			if whole, _, err := scan(x.in, testLimits); whole != x.whole || !errors.Is(err, x.err) {
				t.Errorf("scan gives %d, %v; want %d, %v", whole, err, x.whole, x.err)
			}
		})
	}
}

func TestCut(t *testing.T) {
	var b []byte
	for range 10 {
		b = append(b, frame(frameReliable, 96)...) // 100 bytes each
	}
	for _, x := range []struct{ most, want int }{{1, 100}, {100, 100}, {199, 100}, {250, 200}, {1000, 1000}, {5000, 1000}} {
		if got := cut(b, x.most); got != x.want {
			t.Errorf("cut at %d gives %d, want %d", x.most, got, x.want)
		}
	}
	for _, x := range []struct{ n, want int }{{1, 99}, {99, 1}, {100, 0}, {101, 99}, {999, 1}} {
		if got := cutShort(b, x.n); got != x.want {
			t.Errorf("after %d bytes %d are missing, want %d", x.n, got, x.want)
		}
	}
	if got := count(b); got != 10 {
		t.Errorf("%d frames, want 10", got)
	}
}

// FuzzScan reads frames from any bytes: never a panic, never more than there is, and the same in
// pieces as at once.
func FuzzScan(f *testing.F) {
	f.Add(frame(frameReliable, 10), uint8(3))
	f.Add(append(frame(framePing, 0), frame(frameUnreliable, 100)...), uint8(5))
	f.Add(frame(frameReliable, 1001), uint8(1))
	f.Add(bytes.Repeat([]byte{0xFF}, 9), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		whole, _, err := scan(b, testLimits)
		if whole < 0 || whole > len(b) {
			t.Fatalf("%d of %d bytes are whole", whole, len(b))
		}
		if again, _, err2 := scan(b[:whole], testLimits); again != whole || err2 != nil {
			t.Fatalf("what is whole is not: %d of %d, %v", again, whole, err2)
		}
		at, have := 0, 0
		for have < len(b) {
			have = min(have+int(piece)+1, len(b))
			n, _, err2 := scan(b[at:have], testLimits)
			at += n
			if err2 != nil {
				if err == nil || at != whole {
					t.Fatalf("in pieces: %v at %d; at once: %v at %d", err2, at, err, whole)
				}
				return
			}
		}
		if at != whole || err != nil {
			t.Fatalf("in pieces %d bytes are whole, at once %d, %v", at, whole, err)
		}
	})
}

// FuzzHello reads handshakes from any bytes; what is understood comes back when it is written
// again.
func FuzzHello(f *testing.F) {
	f.Add(hello{salt: 1, want: 2, port: 3}.append(nil), uint32(0))
	f.Add(appendAccept(nil, 7), uint32(7))
	f.Add(appendRefuse(nil, 7, refuseFull), uint32(8))
	f.Fuzz(func(t *testing.T, b []byte, want uint32) {
		k, size, err := peekHello(b)
		if err != nil || size == 0 || size > len(b) {
			return
		}
		body := b[headerSize:size]
		var h hello
		if spoken, err := h.parse(body); k == frameHello && spoken && err == nil && !bytes.Equal(h.append(nil), b[:size]) {
			t.Errorf("%x is read as %+v", b[:size], h)
		}
		if salt, err := parseAnswer(k, body, want); err == nil && !bytes.Equal(appendAccept(nil, salt), b[:size]) {
			t.Errorf("%x is taken for an accept of %d", b[:size], salt)
		}
	})
}
