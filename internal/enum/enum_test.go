package enum_test

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/internal/enum"
)

type gait uint8

const (
	walk gait = 1 + iota
	trot
	gallop
)

func (g gait) String() string {
	return enum.Name(g, "gait", []string{walk: "walk", gallop: "gallop"})
}

func TestName(t *testing.T) {
	got := fmt.Sprint(gait(0), walk, trot, gallop, gait(4), gait(255))
	if want := "gait(0) walk gait(2) gallop gait(4) gait(255)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNamesCostNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { _ = gallop.String() }); n != 0 {
		t.Errorf("a name takes %v allocations", n)
	}
}
