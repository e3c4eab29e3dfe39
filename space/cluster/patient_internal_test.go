package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pipe is a writer whose reader may stop.
type pipe struct {
	mu   sync.Mutex // held while nobody reads
	text bytes.Buffer
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *pipe) has(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Count(p.text.String(), what)
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("never: " + what)
		}
	}
}

// A log that nobody reads used to stop each process that had something to say, until it was
// declared dead; then those that went on in its place.
func TestLogThatNobodyReads(t *testing.T) {
	p := &pipe{}
	lines := newPatient(slog.NewTextHandler(p, nil))
	log := slog.New(quiet{lines, new(atomic.Bool)}).With("process", "BaseApp")
	log.Info("before")
	if p.has("msg=before process=BaseApp") != 1 || lines.outlet.trouble() != nil {
		t.Fatalf("%v: %s", lines.outlet.trouble(), p.text.String())
	}
	p.mu.Lock()
	began := time.Now()
	var many sync.WaitGroup
	for app := range 4 {
		many.Go(func() {
			for range 25 {
				log.Info("meanwhile", "app", app)
			}
		})
	}
	many.Wait()
	if took := time.Since(began); took > 3*logPatience {
		t.Errorf("the processes waited for %v", took)
	}
	if err := lines.outlet.trouble(); !errors.Is(err, errLogStuck) || !strings.Contains(err.Error(), "99 lines") {
		t.Errorf("of 100 lines one is under way, and the trouble is %v", err)
	}
	p.mu.Unlock()
	within(t, "a word on what is missing", func() bool { return p.has("lines are missing here") == 1 && p.has("lines=99") == 1 })
	within(t, "no trouble", func() bool { return lines.outlet.trouble() == nil })
	log.Info("after")
	if p.has("msg=meanwhile") != 1 || p.has("msg=after") != 1 {
		t.Error(p.text.String())
	}
}

// One that is slow for ever costs a second, and a hundredth of the time.
func TestLogThatIsSlow(t *testing.T) {
	o := newPatient(slog.DiscardHandler).outlet
	o.spend(10 * time.Second)
	if limit, ok := o.begin(); !ok || limit != leastLogPatience {
		t.Errorf("then a line has %v", limit)
	}
	o.at = o.at.Add(-50 * time.Second)
	o.spend(0)
	if limit, _ := o.begin(); limit < 490*time.Millisecond || limit > 600*time.Millisecond {
		t.Errorf("after 50 s it has %v", limit)
	}
	o.at = o.at.Add(-time.Hour)
	o.spend(0)
	if limit, _ := o.begin(); limit != logPatience {
		t.Errorf("after an hour it has %v", limit)
	}
}

// A handler that panics does so where the line was logged, and the log goes on.
func TestLogThatPanics(t *testing.T) {
	log := slog.New(newPatient(slog.NewTextHandler(&pipe{}, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "bad" {
			panic("a mistake of the game's")
		}
		return a
	}})))
	for range 2 {
		func() {
			defer func() {
				if x := recover(); fmt.Sprint(x) != "a mistake of the game's" {
					t.Errorf("panic %v", x)
				}
			}()
			log.Info("x", "bad", 1)
		}()
		log.Info("x", "good", 1)
	}
}
