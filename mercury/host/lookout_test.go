package host_test

import (
	"net"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// watcher is an App that notes what was found.
type watcher struct {
	*echo
	found chan finding
}

type finding struct {
	token uint64
	reach mercury.Reach
}

func (w *watcher) Reached(_ time.Duration, token uint64, found mercury.Reach) {
	w.found <- finding{token, found}
}

// startLined starts an app with a lifeline.
func startLined(t *testing.T, h *host.Host) (*host.Process, *watcher) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{&echo{}, make(chan finding, 100)}
	p, err := h.Start("app", ln.Addr().String(), func(e host.Env) (host.App, error) { w.env = e; return w, nil },
		host.Lifeline(ln.(*net.TCPListener)))
	if err != nil {
		t.Fatal(err)
	}
	return p, w
}

func (w *watcher) next(t *testing.T, token uint64, want mercury.Reach) {
	t.Helper()
	select {
	case f := <-w.found:
		if f != (finding{token, want}) {
			t.Errorf("found %v, want %v for %d", f, want, token)
		}
	case <-time.After(patience):
		t.Fatalf("nothing was found for %d", token)
	}
}

// The end of a process is known at once, however it ends, and never that of another.
func TestLookout(t *testing.T) {
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			h := newHost(t)
			eye, w := startLined(t, h)
			seen, _ := startLined(t, h)
			other, _ := startLined(t, h)
			do := func(f func(host.Lookout)) {
				t.Helper()
				if err := eye.Do(func(host.App) { f(w.env.Lookout) }); err != nil {
					t.Fatal(err)
				}
			}
			at := seen.Address().At
			do(func(l host.Lookout) { l.Hold(1, at) })
			w.next(t, 1, mercury.ReachOpen)
			do(func(l host.Lookout) { l.Hold(2, other.Address().At) })
			w.next(t, 2, mercury.ReachOpen)
			do(func(l host.Lookout) { l.Probe(3, at) })
			w.next(t, 3, mercury.ReachOpen)
			began := time.Now()
			if how == "killed" {
				seen.Kill()
			} else if err := seen.Stop(); err != nil {
				t.Error(err)
			}
			w.next(t, 1, mercury.ReachClosed)
			t.Log("known after ", time.Since(began))
			do(func(l host.Lookout) { l.Probe(4, at) })
			w.next(t, 4, mercury.ReachClosed)
			do(func(l host.Lookout) { l.Hold(5, at) })
			w.next(t, 5, mercury.ReachClosed)
			do(func(l host.Lookout) { l.Release(2); l.Release(77) })
			other.Kill()
			select {
			case f := <-w.found:
				t.Errorf("found %v after the line was let go", f)
			case <-time.After(50 * time.Millisecond):
			}
		})
	}
}

// Strangers who hold all lines of a process, or speak, do not make it look dead.
func TestCrowdedLifeline(t *testing.T) {
	h := newHost(t)
	eye, w := startLined(t, h)
	seen, _ := startLined(t, h)
	at := seen.Address().At
	for i := range 200 {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if i%2 == 0 {
			_, _ = c.Write([]byte("hello"))
		}
	}
	if err := eye.Do(func(host.App) { w.env.Lookout.Hold(1, at) }); err != nil {
		t.Fatal(err)
	}
	w.next(t, 1, mercury.ReachOpen)
	if err := eye.Do(func(host.App) { w.env.Lookout.Probe(2, at) }); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the line may have ended, and the place still answers
		if f := <-w.found; f.reach != mercury.ReachOpen {
			t.Errorf("found %v", f)
		} else if f.token == 2 {
			break
		}
	}
}
