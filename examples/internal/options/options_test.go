package options

import (
	"strings"
	"testing"
	"time"
)

func TestDeath(t *testing.T) {
	for s, want := range map[string]Death{
		"10s":         {"cellapp", 10 * time.Second},
		"cellapp:1m":  {"cellapp", time.Minute},
		"baseapp:10s": {"baseapp", 10 * time.Second},
	} {
		var d Death
		if err := d.Set(s); err != nil || d != want {
			t.Errorf("%s: %+v, %v; want %+v", s, d, err, want)
		}
		var again Death
		if err := again.Set(d.String()); err != nil || again != d {
			t.Errorf("%s is written %q, which is %+v, %v", s, &d, again, err)
		}
	}
	for _, s := range []string{"", "10", "loginapp:10s", "baseapp:"} {
		if err := new(Death).Set(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
	if s := new(Death).String(); s != "" {
		t.Errorf("none is written %q", s)
	}
}

func TestFaults(t *testing.T) {
	var f Faults
	f.If(false, "nothing")
	if err := f.Err(); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
	f.If(true, "-n %d", 1)
	f.If(true, "-m %d", 2)
	if err := f.Err(); err == nil || !strings.Contains(err.Error(), "-n 1") || !strings.Contains(err.Error(), "-m 2") {
		t.Errorf("told: %v", err)
	}
}
