package daytime

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	d := At(6*time.Hour, 1000*time.Hour, 60)
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ after, want time.Duration }{
		{0, 6 * time.Hour}, {time.Minute, 7 * time.Hour}, {18 * time.Minute, 0}, {24 * time.Minute, 6 * time.Hour},
	} {
		got := d.At(1000*time.Hour + x.after)
		if off := (got - x.want + Day + time.Hour) % Day; off < time.Hour-time.Millisecond || off > time.Hour+time.Millisecond {
			t.Errorf("after %v it is %v, want %v", x.after, got, x.want)
		}
	}
	for _, bad := range []Clock{{Start: -1}, {Start: Day}, {Speed: -1}, {Speed: MaxSpeed + 1}} {
		if bad.Check() == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func FuzzClock(f *testing.F) {
	f.Add(Clock{Start: time.Hour, Speed: 60}.Append(nil), int64(5))
	f.Add([]byte("short"), int64(0))
	f.Fuzz(func(t *testing.T, b []byte, at int64) {
		d, err := Parse(b)
		if err != nil {
			return
		}
		if string(d.Append(nil)) != string(b) {
			t.Errorf("%x is read as %v", b, d)
		}
		if got := d.At(time.Duration(at)); got < 0 || got >= Day {
			t.Errorf("%v at %d is %v", d, at, got)
		}
	})
}
