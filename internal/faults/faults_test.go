package faults_test

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/internal/faults"
)

func TestList(t *testing.T) {
	all := faults.In("app: ")
	all.If(false, "Tick is %d", 1)
	all.Add(nil)
	if err := all.Err(); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
	other := errors.New("scripts: none")
	all.If(true, "Tick is %d: %w", -1, errors.ErrUnsupported)
	all.Add(other)
	err := all.Err()
	if want := "app: Tick is -1: unsupported operation\nscripts: none"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if !errors.Is(err, other) || !errors.Is(err, errors.ErrUnsupported) {
		t.Error("the errors are not in the chain")
	}
}
