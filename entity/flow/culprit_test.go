package flow_test

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

// What names no message that there can be is refused.
func TestCulprit(t *testing.T) {
	for name, c := range map[string]struct {
		x  flow.Culprit
		ok bool
	}{
		"none":      {flow.Culprit{}, true},
		"one":       {flow.Culprit{From: 7, FromPart: entity.CellPart, Mark: flow.MarkOf(3, 4)}, true},
		"no number": {flow.Culprit{From: 7, FromPart: entity.CellPart, Mark: flow.MarkOf(3, 0)}, false},
		"no sender": {flow.Culprit{FromPart: entity.CellPart, Mark: 4}, false},
		"no part":   {flow.Culprit{From: 7, Mark: 4}, false},
	} {
		got := flow.Culprit{From: 99}
		err := codec.Parse(codec.Append(nil, c.x.Code), got.Code)
		if (err == nil) != c.ok || c.ok && got != c.x {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
