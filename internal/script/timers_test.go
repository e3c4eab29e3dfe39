package script

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
)

// run is what a Run calls, in order.
func run(t *Timers, now time.Duration) (called string) {
	t.Run(now, func(method string, c entity.Callback) { called += fmt.Sprint(method, c.User, " ") })
	return called
}

func add(t *testing.T, x *Timers, now, after, every time.Duration, method string, user int64) entity.CallbackID {
	t.Helper()
	id, err := x.Add(now, after, every, method, user)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestTimers(t *testing.T) {
	var x Timers
	add(t, &x, 0, 30, 0, "A", 1)
	add(t, &x, 0, 20, 25, "B", 2)
	add(t, &x, 0, 20, 0, "C", 3)
	add(t, &x, 0, math.MaxInt64, math.MaxInt64, "Never", 4)
	for _, tt := range []struct {
		now  time.Duration
		want string
	}{{19, ""}, {20, "B2 C3 "}, {44, "A1 "}, {45, "B2 "}, {200, "B2 "}, {219, ""}, {220, "B2 "}} {
		if due := x.Due(tt.now); due != (tt.want != "") {
			t.Errorf("at %d: due is %v", tt.now, due)
		}
		if got := run(&x, tt.now); got != tt.want {
			t.Errorf("at %d: %q, want %q", tt.now, got, tt.want)
		}
	}
}

// Whoever is called may cancel others and add new ones.
func TestTimersChangeWithinARun(t *testing.T) {
	var x Timers
	add(t, &x, 0, 0, 10, "A", 1)
	victim := add(t, &x, 0, 5, 0, "B", 2)
	called := 0
	x.Run(10, func(method string, c entity.Callback) {
		called++
		if method != "A" || !x.Cancel(victim) || x.Cancel(victim) {
			t.Errorf("called %s; cancelled wrongly", method)
		}
		add(t, &x, 10, 0, 0, "C", 3)
	})
	if called != 1 || !x.Due(10) {
		t.Errorf("called %d", called)
	}
	if got := run(&x, 10); got != "C3 " {
		t.Errorf("then %q", got)
	}
	if x.Clear(); run(&x, 100) != "" {
		t.Error("something is left")
	}
}

func TestTimerBounds(t *testing.T) {
	var x Timers
	for _, d := range [][2]time.Duration{{-1, 0}, {0, -1}} {
		if _, err := x.Add(0, d[0], d[1], "A", 0); err == nil {
			t.Errorf("%v is taken", d)
		}
	}
	for range limits.Timers {
		add(t, &x, 0, 0, 1, "A", 0)
	}
	if _, err := x.Add(0, 0, 0, "A", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("beyond the bound: %v", err)
	}
	if x.Last() != limits.Timers {
		t.Errorf("the last id is %d", x.Last())
	}
}

// Timers keep how long they have to go; ids go on where they were.
func TestTimersTravel(t *testing.T) {
	var x, y Timers
	add(t, &x, 1000, 50, 0, "A", -1)
	x.Cancel(add(t, &x, 1000, 50, 0, "B", 2))
	r := codec.NewReader(x.Append(nil, 1020))
	y.Read(&r, 10)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if y.Due(39) || run(&y, 40) != "A-1 " || y.NextID() != 3 {
		t.Errorf("it has %+v", y)
	}
	y = x
	if y.Shift(-2000); run(&y, 0) != "A-1 " {
		t.Error("not due at the beginning of time")
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	var x Timers
	add(t, &x, 0, 0, 1, "A", 0)
	calls, now := 0, time.Duration(0)
	if n := testing.AllocsPerRun(100, func() {
		now++
		x.Run(now, func(string, entity.Callback) { calls++ })
	}); n != 0 || calls < 100 {
		t.Errorf("%v allocations, %d calls", n, calls)
	}
}

// FuzzTimers reads timers from any bytes: what is taken is written again as it was, and can run.
func FuzzTimers(f *testing.F) {
	var x Timers
	_, _ = x.Add(0, time.Second, 0, "OnOnce", 1)
	_, _ = x.Add(0, 0, time.Minute, "OnBeat", -5)
	f.Add(x.Append(nil, 0))
	f.Add([]byte{0, 0})
	f.Add([]byte{2, 2, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var x Timers
		r := codec.NewReader(b)
		if x.Read(&r, 0); r.Close() != nil {
			return
		}
		if again := x.Append(nil, 0); !bytes.Equal(again, b) {
			t.Fatalf("%x was written again as %x", b, again)
		}
		calls := 0
		x.Run(time.Hour, func(string, entity.Callback) { calls++ })
		if calls > limits.Timers || x.Due(time.Hour) {
			t.Fatalf("%d calls, and something is due still", calls)
		}
	})
}
