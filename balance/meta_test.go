package balance

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// appAt is the address of the app with an ID: four to a machine.
func appAt(id uint32) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(id >> 10), byte(id >> 2)}), uint16(1000+id))
}

// apps makes apps 1, 2, ... with the given loads, in thousandths of a core.
func apps(milli ...int64) []App {
	var as []App
	for i, l := range milli {
		a := App{ID: uint32(i + 1), Addr: appAt(uint32(i + 1))}
		a.Report(l*load.Core/1000, 1)
		as = append(as, a)
	}
	return as
}

// shutDown marks the apps with the IDs.
func shutDown(as []App, ids ...uint32) []App {
	for _, id := range ids {
		as[id-1].Retiring = true
	}
	return as
}

// space reads a tree of the form of bsp.ParseText, in which "N" stands for a created cell 1.N on
// app N, "N'" for a retiring one, "N?" for one that is not created, and "N/A" puts it on app A.
// Every cell but the last kind reports a row of entities, and the load in thousandths of a core
// that loads has for its app, 0 if none.
func space(t testing.TB, id uint32, tree string, loads ...int64) Space {
	t.Helper()
	var text strings.Builder
	text.WriteString("version 1.1\n")
	s := Space{ID: id}
	for line := range strings.SplitSeq(tree, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if f[0] == "x" || f[0] == "z" {
			text.WriteString(line + "\n")
			continue
		}
		mark := f[0][len(f[0])-1]
		cell, app, n := uint32(0), uint32(0), 0
		if n, _ = fmt.Sscanf(f[0], "%d/%d", &cell, &app); n < 2 {
			app = cell
		}
		fmt.Fprintf(&text, "cell 1.%d %v 0", cell, appAt(app))
		if mark != '?' {
			text.WriteString(" created")
		}
		if mark == '\'' {
			text.WriteString(" retiring")
		}
		text.WriteString("\n")
		if mark != '?' {
			c := Cell{ID: bsp.CellID{Term: 1, N: cell}, App: app, Reals: 100}
			if int(app) <= len(loads) {
				c.Load = loads[app-1] * load.Core / 1000
			}
			s.Cells = append(s.Cells, c)
		}
	}
	var err error
	if s.Tree, err = bsp.ParseText(text.String()); err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	for i := range s.Cells {
		_, r, _ := s.Tree.Leaf(s.Cells[i].ID)
		s.Cells[i].Profile = rowIn(r)
	}
	return s
}

// rowIn is the profile of a hundred entities on the diagonal of the part of a rectangle within 1000
// m of the origin.
func rowIn(r bsp.Rect) load.Profile {
	r = r.Intersect(bsp.Around(0, 0, 1000))
	var row []load.Sample
	for i := range 100 {
		f := (float64(i) + 0.5) / 100
		row = append(row, load.Sample{X: float32(r.MinX + f*(r.MaxX-r.MinX)), Z: float32(r.MinZ + f*(r.MaxZ-r.MinZ)), Load: 1})
	}
	return load.Build(row)
}

// outline writes what a plan changes, in one line.
func outline(p Plan) string {
	var parts []string
	refs := func(what string, rs []Ref) {
		for _, r := range rs {
			parts = append(parts, fmt.Sprintf("%s %d/%v", what, r.Space, r.Cell))
		}
	}
	refs("cancel", p.Cancels)
	for _, a := range p.Adds {
		parts = append(parts, fmt.Sprintf("add %d/%v on %d", a.Space, a.Cell, a.App))
	}
	refs("retire", p.Retires)
	refs("crowded", p.Crowded)
	for _, w := range p.Wanting {
		parts = append(parts, fmt.Sprintf("wanting %d", w))
	}
	for _, f := range p.Faults {
		parts = append(parts, f.String())
	}
	return strings.Join(parts, ", ")
}

// apply does what a plan says to the trees of an observation.
func applyMeta(t testing.TB, o *Observation, p *Plan) {
	t.Helper()
	n := uint32(1000)
	err := p.Apply(func(id uint32) *bsp.Tree {
		i := slices.IndexFunc(o.Spaces, func(s Space) bool { return s.ID == id })
		return o.Spaces[i].Tree
	}, func(a *Add) bsp.Leaf {
		for {
			n++
			c := bsp.CellID{Term: 2, N: n}
			taken := slices.ContainsFunc(o.Spaces, func(s Space) bool { _, _, ok := s.Tree.Leaf(c); return ok })
			if !taken {
				i := slices.IndexFunc(o.Apps, func(x App) bool { return x.ID == a.App })
				return bsp.Leaf{Cell: c, App: o.Apps[i].Addr, Salt: o.Apps[i].Salt}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// settled returns the second of two plans, the first one of which only made the policy acquainted
// with the spaces, and lets no cell retire since they might have changed just before.
func settled(t testing.TB, policy string, cfg knobs, o *Observation) Plan {
	t.Helper()
	p := newPolicy(t, policy, cfg)
	o.Now = time.Minute
	p.Meta(o)
	o.Now += time.Minute
	return p.Meta(o)
}

// metaCase is an observation, and what a policy should do about it.
type metaCase struct {
	name string
	cfg  knobs
	o    Observation
	want string
}

func runMeta(t *testing.T, policy string, tests []metaCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Spaces = slices.Clone(tt.o.Spaces) // another policy may be tried with the same
			for i := range tt.o.Spaces {
				tt.o.Spaces[i].Tree = tt.o.Spaces[i].Tree.Clone()
			}
			plan := settled(t, policy, tt.cfg, &tt.o)
			if got := outline(plan); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			applyMeta(t, &tt.o, &plan)
		})
	}
}
