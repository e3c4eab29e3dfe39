package host_test

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// worker is an app that gives out a job.
type worker struct{ jobs host.Jobs }

func (worker) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (worker) Closed(time.Duration, mercury.ChannelID, error)           {}
func (worker) Message(time.Duration, mercury.ChannelID, bool, []byte)   {}
func (worker) JobDone(time.Duration, uint64, any)                       {}
func (worker) Tick(now time.Duration) time.Duration                     { return now + time.Second }

// A profile says to which process the work of a goroutine belongs, that of a job included.
func TestProfileLabel(t *testing.T) {
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	for _, name := range []string{"cellapp-a", "cellapp-b"} {
		p, err := h.Start(name, "127.0.0.1:0", func(e host.Env) (host.App, error) { return worker{e.Jobs}, nil })
		if err != nil {
			t.Fatal(err)
		}
		inJob, goOn := make(chan struct{}), make(chan struct{})
		defer close(goOn)
		if err := p.Do(func(a host.App) {
			a.(worker).jobs.Do(1, func(context.Context) any {
				close(inJob)
				<-goOn
				return nil
			})
		}); err != nil {
			t.Fatal(err)
		}
		<-inJob
	}
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cellapp-a", "cellapp-b"} {
		if n := strings.Count(profile.String(), fmt.Sprintf("%q:%q", host.ProfileLabel, name)); n < 2 {
			t.Errorf("%d stacks of %s in\n%s", n, name, profile.String())
		}
	}
}
