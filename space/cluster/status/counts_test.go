package status_test

import (
	"maps"
	"testing"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// Numbers of any kind are taken, and what has not happened is left out.
func TestCountsTake(t *testing.T) {
	got := make(status.Counts)
	got.Take("door", struct {
		Knocks       uint64
		Open, Shut   bool
		Waiting, Owe int
		Never        uint64
		Name         string
	}{Knocks: 1 << 40, Open: true, Waiting: 3, Owe: -1, Name: "oak"})
	if want := (status.Counts{"door.Knocks": 1 << 40, "door.Open": 1, "door.Waiting": 3}); !maps.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
}
