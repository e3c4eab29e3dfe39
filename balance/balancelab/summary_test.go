package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

// seconds makes records of which the most loaded cell is off the average by given shares.
func seconds(off ...float64) []second {
	all := make([]second, len(off))
	for i, f := range off {
		all[i] = second{at: time.Duration(i+1) * time.Second, cells: 2, leaves: 2, least: 1, mean: 1, most: 1 + f, total: 2}
	}
	return all
}

func TestSettled(t *testing.T) {
	for _, c := range []struct {
		name string
		off  []float64
		want int
	}{
		{"at once", []float64{0.9, 0.9, 0.01, 0.01, 0.01}, 0},
		{"after two seconds", []float64{0.9, 0.9, 0.2, 0.1, 0.01}, 2},
		{"not until the last relapse", []float64{0.9, 0.9, 0.01, 0.1, 0.01}, 2},
		{"never", []float64{0.9, 0.9, 0.01, 0.01, 0.1}, -1},
	} {
		l := lab{seconds: seconds(c.off...)}
		if got := l.settled(2*time.Second, 5*time.Second); got != c.want {
			t.Errorf("%s: %d s, not %d", c.name, got, c.want)
		}
	}
}

func TestWarmUp(t *testing.T) {
	for _, c := range []struct {
		lastAdd, seconds, flag, want int
		scenario                     string
	}{
		{10, 600, 0, 120, "star"},
		{110, 600, 0, 140, "star"},
		{590, 600, 0, 300, "star"},
		{110, 600, 50, 50, "star"},
		{110, 600, 0, 30, "economy"},
	} {
		l := lab{seconds: make([]second, c.seconds)}
		l.cfg.scenario, l.cfg.warmUp = c.scenario, c.flag
		for i := range c.lastAdd {
			l.seconds[i].adds = 1
		}
		if got := l.warmUp(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestExtreme(t *testing.T) {
	var values []float64
	for i := range 200 {
		values = append(values, float64((i*77)%200))
	}
	if e := extremeOfValues(values); e.Worst != 199 || e.P99 != 197 || math.Abs(e.Mean-99.5) > 1e-9 {
		t.Errorf("%+v", e)
	}
	if e := extremeOfValues(nil); e != (extreme{}) {
		t.Errorf("of nothing: %+v", e)
	}
}

// At a target of 0.20 the average of two cells must be from 0.1233 to 0.22.
func TestEconomyMargins(t *testing.T) {
	s := []second{{leaves: 2, total: 0.3}, {leaves: 2, total: 0.2}, {leaves: 2, total: 0.5}, {leaves: 1, total: 0.01}, {leaves: 4, total: 2}}
	m := economyOf(s, 4, 0.20)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-4 }
	if l := m.Lower; !near(l.Lowest, -0.0233) || l.Outside != 1 || !near(l.Highest, 0.35) {
		t.Errorf("over the lower bound: %+v", l)
	}
	if u := m.Upper; !near(u.Lowest, -0.03) || u.Outside != 1 || !near(u.Highest, 0.21) {
		t.Errorf("under the upper bound: %+v", u)
	}
}

// Both forms of the output are whole: the picture is well-formed XML with every cut, the summary is JSON.
func TestOutput(t *testing.T) {
	c := small("star")
	c.seconds, c.frames = 24, framesOfFilm
	l := start(t, c, c.seconds)
	s := l.summarise()
	picture := l.draw(s)
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(string(picture), `class="dots"`); n != framesOfFilm || bytes.Contains(picture, []byte("NaN")) || bytes.Contains(picture, []byte("Inf")) {
		t.Errorf("%d cuts, or a figure that is none", n)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
	if text := s.String(); !strings.Contains(text, "3000 entities") {
		t.Error(text)
	}
}

func TestOverByOneCell(t *testing.T) {
	l := lab{apps: make([]cellApp, 3)}
	for i := range l.apps {
		l.apps[i].ready, l.apps[i].known = true, true
	}
	for i, c := range []struct {
		loads [3]float64
		want  int
	}{
		{[3]float64{1.11, 1, 1.09}, 1},
		{[3]float64{1.2, 1.2, 1}, 2},
		{[3]float64{1, 1.2, 1.2}, 2}, // another cell's seconds do not add up with the first one's
		{[3]float64{1, 1, 1}, 0},
	} {
		for k := range l.apps {
			l.apps[k].raw = int64(c.loads[k] * 1e9)
		}
		if got := l.over(1); got != c.want {
			t.Errorf("second %d: %d, want %d", i, got, c.want)
		}
	}
}
