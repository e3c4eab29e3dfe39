package balance

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// oneWorld is a space divided over most of a thousand apps, the others idle; rooms are on some of
// its apps.
func oneWorld(apps, cells, rooms int) Observation {
	rng := rand.New(rand.NewPCG(1, 2))
	o := Observation{Now: time.Hour}
	for i := range apps {
		a := App{ID: uint32(i + 1), Addr: appAt(uint32(i + 1))}
		if i < cells {
			a.Report(int64((0.2+0.3*rng.Float64())*float64(load.Core)), 1)
		}
		o.Apps = append(o.Apps, a)
	}
	leaf := func(n, app int) bsp.Leaf {
		return bsp.Leaf{Cell: bsp.CellID{Term: 1, N: uint32(n)}, App: o.Apps[app].Addr, Created: true}
	}
	t := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1, 0))
	for i := 1; i < cells; i++ {
		c, axis, ok := t.Place()
		_, r, _ := t.Leaf(c)
		lo, hi := finite(r).Span(axis)
		if !ok || t.Split(c, axis, lo/2+hi/2, leaf(i+1, i), true) != nil {
			panic("the world is too small")
		}
	}
	o.Spaces = append(o.Spaces, spaceOf(&o, 1, t))
	for i := range rooms {
		t := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(10000+i, i%cells))
		o.Spaces = append(o.Spaces, spaceOf(&o, uint32(i+2), t))
	}
	return o
}

func spaceOf(o *Observation, id uint32, t *bsp.Tree) Space {
	s := Space{ID: id, Tree: t}
	for r, l := range t.Leaves() {
		app := int(l.App.Port()) - 1001
		s.Cells = append(s.Cells, Cell{ID: l.Cell, App: uint32(app + 1), Load: o.Apps[app].Load / 2, Reals: 100, Profile: rowIn(r)})
	}
	return s
}

// apart is as many rooms as apps, each alone on an app; every second app is idle, so that each of
// the others is helped.
func apart(apps int) Observation {
	o := oneWorld(apps, 1, 0)
	o.Spaces = nil
	for i := range apps / 2 {
		o.Apps[i].Report(int64(float64(load.Core)*(0.4+0.3*float64(i)/float64(apps))), 1)
		t := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: uint32(i + 1)}, App: o.Apps[i].Addr, Created: true})
		o.Spaces = append(o.Spaces, spaceOf(&o, uint32(i+1), t))
	}
	return o
}

func BenchmarkMeta1000Apps(b *testing.B) {
	clusters := []struct {
		name string
		o    Observation
	}{
		{"one world of 900 cells", oneWorld(1000, 900, 0)},
		{"with 2000 rooms", oneWorld(1000, 900, 2000)},
		{"500 rooms apart", apart(1000)},
	}
	for _, policy := range []string{classicName, profileName} {
		for _, c := range clusters {
			b.Run(policy+"/"+c.name, func(b *testing.B) {
				p := newPolicy(b, policy, knobs{})
				o := c.o
				adds, retires := 0, 0
				for b.Loop() {
					o.Now += 3 * time.Second
					plan := p.Meta(&o)
					adds, retires = len(plan.Adds), len(plan.Retires)
				}
				b.ReportMetric(float64(adds), "adds")
				b.ReportMetric(float64(retires), "retires")
			})
		}
	}
}
