package gametime_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/gametime"
)

func TestClockGameAt(t *testing.T) {
	slow := gametime.Clock{Number: 3, At: 10 * time.Second, Game: 9 * time.Second, Rate: 250}
	year := 365 * 24 * time.Hour
	for _, c := range []struct {
		name     string
		clock    gametime.Clock
		at, want time.Duration
	}{
		{"before the first", gametime.Clock{}, time.Minute, time.Minute},
		{"at its beginning", slow, 10 * time.Second, 9 * time.Second},
		{"after", slow, 14 * time.Second, 10 * time.Second},
		{"before it counts", slow, 6 * time.Second, 8 * time.Second},
		{"in parts of a microsecond", gametime.Clock{Rate: 333}, 1, 0},
		{"the same in sum", gametime.Clock{Rate: 333}, 3003, 999},
		{"after a century at normal rate", gametime.Clock{Rate: gametime.NormalRate}, 100 * year, 100 * year},
		{"after a century at half", gametime.Clock{Rate: 500}, 100 * year, 50 * year},
	} {
		if got := c.clock.GameAt(c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
