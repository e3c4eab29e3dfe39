package host_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/host"
)

// faulty ends at its first tick, with what is wrong with it.
type faulty struct {
	echo
	fault error
}

func (f *faulty) Ended() bool                                 { return true }
func (f *faulty) Fault() error                                { return f.fault }
func (f *faulty) Tick(now time.Duration) (next time.Duration) { return now + time.Hour }

// An app that ends since it is of no use says why to whoever waits for its process; one that is done says
// nothing.
func TestFault(t *testing.T) {
	odd := errors.New("it is of another build")
	for name, want := range map[string]error{"done": nil, "of no use": odd} {
		h, err := host.New(host.Config{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.Start(name, "127.0.0.1:0", func(host.Env) (host.App, error) { return &faulty{fault: want}, nil })
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.Done():
		case <-time.After(patience):
			t.Fatalf("%s: it goes on", name)
		}
		if got := p.Err(); !errors.Is(got, want) || (want == nil) != (got == nil) {
			t.Errorf("%s: it ended with %v", name, got)
		}
		if err := h.Wait(); !errors.Is(err, want) {
			t.Errorf("%s: Wait says %v", name, err)
		}
		_ = h.Close() // says the same
	}
}
