package balance

import (
	"fmt"
	"math"
	"testing"

	"github.com/cellscape/cellscape/balance/load"
)

// TestAvgLoad is about CellAppGroup::avgLoad and how groups form: apps are joined by the spaces
// that they share.
func TestAvgLoad(t *testing.T) {
	const milli = load.Core / 1000
	tests := []struct {
		name   string
		apps   []App
		spaces []Space
		want   string // for each group: its apps, average, and that with one fewer
	}{
		{"no app", nil, nil, ""},
		{"apart", apps(100, 200), []Space{space(t, 1, "1"), space(t, 2, "2")}, "[1] 100 -; [2] 200 -; "},
		{"idle ones are apart", apps(100, 200), nil, "[1] 100 -; [2] 200 -; "},
		{"joined by a space", apps(100, 200, 600), []Space{space(t, 1, "x 0\n1\n3"), space(t, 2, "2")}, "[1 3] 350 700; [2] 200 -; "},
		{"joined through an app", apps(100, 200, 600), []Space{space(t, 1, "x 0\n1\n2"), space(t, 2, "x 0\n2\n3")}, "[1 2 3] 300 450; "},
		{"joined from above", apps(1, 2, 3, 4), []Space{space(t, 1, "x 0\n3\n4"), space(t, 2, "x 0\n1\n4"), space(t, 3, "x 0\n1\n2")}, "[1 2 3 4] 2 3; "},
		{"purely retiring", apps(100, 200, 600), []Space{space(t, 1, "x 0\n1\nx 500\n2\n3'")}, "[1 2 3] 450 900; "},
		{"no app that stays", apps(100, 200), []Space{space(t, 1, "x 0\n1'\n8/9")}, "[1] - -; [2] 200 -; "}, // app 9 is not known
		{"partly retiring", apps(100, 500), []Space{space(t, 1, "x 0\n1\n2'"), space(t, 2, "2")}, "[1 2] 300 600; "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := look(&Observation{Apps: tt.apps, Spaces: tt.spaces})
			got := ""
			show := func(l int64) string {
				if l == math.MaxInt64 {
					return "-"
				}
				return fmt.Sprint(l / milli)
			}
			for _, g := range v.groups() {
				var ids []uint32
				for _, i := range g.apps {
					ids = append(ids, v.apps[i].ID)
				}
				got += fmt.Sprintf("%v %s %s; ", ids, show(g.average(0)), show(g.average(1)))
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
