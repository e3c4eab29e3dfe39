package quic

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestGate counts handshakes that go on, fail and are over.
func TestGate(t *testing.T) {
	g := gate{most: 4}
	var cancels []context.CancelFunc
	var last context.Context
	enter := func() error {
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		out, err := g.admit(ctx, nil)
		if err == nil {
			cancels = append(cancels, cancel)
			last = out
		}
		return err
	}
	for i, verify := range []bool{false, false, true, true} {
		if err := enter(); err != nil || g.verify(nil) != verify {
			t.Fatalf("handshake %d: %v, addresses verified: %v", i+1, err, g.verify(nil))
		}
	}
	if err := enter(); !errors.Is(err, errCrowd) {
		t.Fatalf("the fifth handshake: %v", err)
	}
	g.end(last.Value(passKey{}).(*pass)) // done
	cancels[3]()                         // its connection ends later: counted once
	cancels[0]()                         // failed
	for end := time.Now().Add(10 * time.Second); g.now.Load() != 2; {
		if time.Now().After(end) {
			t.Fatalf("%d handshakes are counted, want 2", g.now.Load())
		}
	}
	if err := enter(); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
