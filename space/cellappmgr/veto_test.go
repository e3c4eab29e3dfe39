package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// refusing is a scorer that refuses the CellApps of some numbers.
func refusing(apps ...uint32) []balance.Scorer {
	return []balance.Scorer{{Name: "refusing", Rank: func(c *balance.Candidate) (float64, bool) {
		for _, n := range apps {
			if c.App.ID == n {
				return 0, false
			}
		}
		return 0, true
	}}}
}

// TestVeto: a CellApp that the scorers of the configuration refuse is given no cell, however a cell
// comes to be.
func TestVeto(t *testing.T) {
	for name, tt := range map[string]struct {
		refused uint32 // as idle as the others, and next in line by its number
		cells   int
		cfg     func(*Config)
		do      func(r *rig, apps []*peer)
	}{
		"first cells": {1, 6, func(c *Config) {
			for i := range 5 {
				c.Spaces = append(c.Spaces, SpaceConfig{ID: entity.SpaceID(i + 2), Bounds: bsp.Rect{MaxX: 100, MaxZ: 100}})
			}
		}, nil},
		"rooms": {1, 11, nil, func(r *rig, apps []*peer) {
			base := r.join(wire.BaseApp, 30)
			for i := range 10 {
				base.send(&wire.CreateSpace{Number: uint64(i + 1), Info: aRoom()})
			}
		}},
		"a space that has lost its only cell": {2, 1, nil, func(r *rig, apps []*peer) {
			for _, p := range apps {
				if len(take[wire.AddCell](p)) > 0 {
					p.drop(mercury.ErrPeerRestarted)
					break
				}
			}
		}},
		"cells that a space has at least": {1, 3, func(c *Config) { c.Balance.MinCells = 3 }, nil},
		"cells for load": {1, 3, nil, func(r *rig, apps []*peer) {
			for range 30 {
				for _, p := range apps {
					p.confirm()
				}
				r.reportAll(0.9)
				r.pass(200 * time.Millisecond)
			}
		}},
	} {
		for _, policy := range []balance.PolicyConfig{balance.ProfileConfig{}, balance.ClassicConfig{}} {
			t.Run(name+"/"+policy.Name(), func(t *testing.T) {
				r := newRig(t, func(c *Config) {
					c.MinCellApps = 4
					c.Policy, c.Balance.Scorers = policy, refusing(tt.refused)
					if tt.cfg != nil {
						tt.cfg(c)
					}
				})
				var apps []*peer
				for i := range 4 {
					apps = append(apps, r.join(wire.CellApp, 10+i))
				}
				if tt.do != nil {
					tt.do(r, apps)
				}
				given := 0
				for range 30 {
					for i, p := range apps {
						n := len(p.confirm())
						if given += n; n > 0 && uint32(i+1) == tt.refused {
							t.Fatal("the refused CellApp was given a cell")
						}
					}
					r.pass(200 * time.Millisecond)
				}
				if n := r.m.Status().Cells; n != tt.cells {
					t.Errorf("%d cells, want %d", n, tt.cells)
				}
				for _, s := range r.m.spaces {
					for _, c := range s.cells {
						if c.app.number == tt.refused {
							t.Errorf("cell %v of space %d is on the refused CellApp", c.id, s.cfg.ID)
						}
					}
				}
			})
		}
	}
}

// reportAll has every CellApp report each of its cells with a load, spread over its rectangle.
func (r *rig) reportAll(load float64) {
	for _, p := range r.peers {
		if p.role != wire.CellApp {
			continue
		}
		var cells []wire.CellReport
		for _, s := range r.m.spaces {
			for _, c := range s.cells {
				if _, rect, ok := s.tree.Leaf(c.id); ok && c.app.address == p.addr {
					rect = cut(rect, s.cfg.Bounds)
					cells = append(cells, cellReport(s.cfg.ID, c.id, s.version(), load, float32(rect.MinX), float32(rect.MaxX)))
				}
			}
		}
		p.reportCells(cells...)
	}
}
