package ending_test

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/space/ending"
)

func TestWhy(t *testing.T) {
	got := fmt.Sprint(ending.Why(0), ", ", ending.Removed, ", ", ending.SpaceEnded, ", ", ending.Stopped, ", ", ending.Dismissed, ", ", ending.Why(5))
	if want := "ending(0), removed, space ended, stopped, dismissed, ending(5)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
