package script

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
)

// Each failure is told once, also one that is added meanwhile. A call without an answer has none.
func TestFailures(t *testing.T) {
	var f Failures[string]
	told := ""
	tell := func(part string, id flow.RequestID, err error) {
		told += fmt.Sprint(part, id.Number, err == entity.ErrNoEntity, " ")
		if part == "a" {
			f.Add("b", flow.RequestID{Number: 3}, nil)
		}
	}
	f.Add("x", flow.RequestID{}, entity.ErrNoEntity)
	f.Add("a", flow.RequestID{Number: 1}, entity.ErrNoEntity)
	f.Add("c", flow.RequestID{Number: 2}, nil)
	if f.Len() != 2 {
		t.Errorf("%d wait", f.Len())
	}
	f.Tell(tell)
	f.Tell(tell)
	if want := "a1 true c2 false b3 false "; told != want || f.Len() != 0 {
		t.Errorf("told %q, want %q; %d are left", told, want, f.Len())
	}
}
