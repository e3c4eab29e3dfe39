package streamtest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
)

const (
	// patience bounds what a test waits for; nothing takes a noticeable part of it on loopback.
	patience = 10 * time.Second
	// glance is how long one turn waits for something to come.
	glance = 100 * time.Microsecond
	// hurry divides the times which mercurytest's suite only lets pass: it was written for virtual
	// time, and waits for nothing there.
	hurry = 50
)

// turn is one turn of an owner.
func turn(x *stream.Transport) {
	_, _ = x.Receive(x.Now() + glance) // a broken listener shows in what is waited for
	_ = x.Flush()
}

// Until takes turns at all of xs until done or until limit has passed, and reports whether done was
// met.
func Until(limit time.Duration, done func() bool, xs ...*stream.Transport) bool {
	end := xs[0].Now() + min(limit, patience)
	for {
		for _, x := range xs {
			turn(x)
		}
		if done() {
			return true
		}
		if xs[0].Now() >= end {
			return false
		}
	}
}

// WantDial dials from a client to a server, and expects that the channel opens or, if want is an error, that
// it ends with that. The client's handler is at.
func WantDial(t testing.TB, client, server *stream.Transport, at *mercurytest.Recorder, want error) {
	t.Helper()
	s := at.Of(client.Dial(server.Self()))
	if !Until(patience, func() bool { return s.Opened+len(s.Closed) > 0 }, client, server) {
		t.Fatal("nothing became of the dial")
	}
	if want == nil && s.Opened != 1 || want != nil && (len(s.Closed) == 0 || !errors.Is(s.Closed[0], want)) {
		t.Errorf("opened %d times, closed with %v, want %v", s.Opened, s.Closed, want)
	}
}

// WantUnopened expects that a Transport has counted that many connections without a channel by that name
// (mercury.CarrierStats), and no others.
func WantUnopened(t testing.TB, x *stream.Transport, name string, want uint64) {
	t.Helper()
	var counts reflect.Value
	count := func() uint64 {
		counts = reflect.ValueOf(x.CarrierStats().Unopened)
		return counts.FieldByName(name).Uint()
	}
	if !Until(patience, func() bool { return count() == want }, x) {
		t.Errorf("%s is not %d: %+v", name, want, counts)
	}
	for i := range counts.NumField() {
		if other := counts.Type().Field(i).Name; other != name && counts.Field(i).Uint() > 0 {
			t.Errorf("beside %s there is %s: %+v", name, other, counts)
		}
	}
}

// Rig drives two Transports for mercurytest.TestTransport, in real time and on the caller's
// goroutine.
func Rig(a, b *stream.Transport) *mercurytest.Rig {
	return mercurytest.RigOf(a, b, func(limit time.Duration, done func() bool) bool {
		if limit < time.Second {
			limit /= hurry
		}
		return Until(limit, done, a, b)
	})
}

// Stop ends a Transport at once, whatever it still has to say.
func Stop(t testing.TB, x *stream.Transport) {
	t.Helper()
	if err := x.Release(); err != nil {
		t.Error(err)
	}
}
