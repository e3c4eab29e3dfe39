package wheel_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/wheel"
)

type reminder struct {
	text  string
	timer wheel.Node[reminder]
}

// A timer that is set again fires once, at its last time.
func Example() {
	var w wheel.Wheel[reminder]
	tea, eggs := &reminder{text: "tea"}, &reminder{text: "eggs"}
	for _, r := range []*reminder{tea, eggs} {
		r.timer.Of = r
	}
	w.Set(&tea.timer, 4*time.Minute)
	w.Set(&eggs.timer, 5*time.Minute)
	w.Set(&tea.timer, 6*time.Minute)
	for now := time.Duration(0); now < 10*time.Minute; now += time.Minute {
		w.Advance(now, func(r *reminder) { fmt.Println(now, r.text) })
	}
	// Output:
	// 5m0s eggs
	// 6m0s tea
}
