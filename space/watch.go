package space

import (
	"cmp"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// Watch adds to what a CellApp shows: how much there is in its cells, and those settings of theirs
// that may change in flight, which are one for all its cells.
func (p *Population) Watch(t *watch.Tree) {
	watch.Show(t, "cells/count", "cells here", func() int { return len(p.cells) })
	watch.Show(t, "cells/reals", "entities that live here", func() int { return p.sum(func(c *Cell) int { return len(c.reals) }) })
	watch.Show(t, "cells/ghosts", "ghosts of entities of other CellApps", func() int { return p.sum(func(c *Cell) int { return len(c.ghosts) }) })
	watch.Show(t, "cells/clients", "entities here that see for a client", func() int { return p.sum(func(c *Cell) int { return len(c.triggers) }) })
	watch.Show(t, "cells/handoffs", "entities on their way to other CellApps", func() int { return p.sum(func(c *Cell) int { return p.handoffs.From(c.space) }) })
	watch.Setting(t, "cells/backup_period", "time between two backups of an entity", func() time.Duration { return p.cfg.BackupPeriod },
		func(d time.Duration) error { return p.configure(func(c *Config) { c.BackupPeriod = d }) })
	watch.Setting(t, "cells/max_reals", "above it a cell takes nobody who is teleported to it; 0 is no limit", func() int { return p.cfg.MaxReals },
		func(n int) error { return p.configure(func(c *Config) { c.MaxReals = max(0, n) }) })
	watch.Setting(t, "cells/ghost_budget", "ghosts that a cell makes in one check", func() int { return p.cfg.GhostBudget },
		func(n int) error { return p.configure(func(c *Config) { c.GhostBudget = n }) })
	watch.Setting(t, "cells/check_budget", "entities near lines that one check looks at", func() int { return p.cfg.CheckBudget },
		func(n int) error { return p.configure(func(c *Config) { c.CheckBudget = n }) })
	watch.Setting(t, "cells/dwell", "how long an entity may stay beyond a line; 0 is as long as it likes", func() time.Duration { return p.cfg.Dwell },
		func(d time.Duration) error { return p.configure(func(c *Config) { c.Dwell = d }) })
	watch.Setting(t, "witness/bytes_per_tick", "most that a client is told in a tick; 0 is the default", func() int { return p.bytesPerTick() },
		func(n int) error { return p.configure(func(c *Config) { c.Witness.BytesPerTick = n }) })
	watch.Setting(t, "witness/least_bytes_per_tick", "least that a client with a narrow line is told; 0 is the default", func() int {
		return cmp.Or(p.cfg.Witness.LeastBytesPerTick, min(witness.DefaultLeastBytesPerTick, p.bytesPerTick()))
	},
		func(n int) error { return p.configure(func(c *Config) { c.Witness.LeastBytesPerTick = n }) })
}

func (p *Population) bytesPerTick() int {
	return cmp.Or(p.cfg.Witness.BytesPerTick, witness.DefaultBytesPerTick)
}

func (p *Population) sum(of func(*Cell) int) (n int) {
	for _, c := range p.cells {
		n += of(c)
	}
	return n
}

// configure changes the settings of all cells, if they make sense. What was asked of them before
// has its time: a backup that is due later than by the new period comes within that.
func (p *Population) configure(change func(*Config)) error {
	c := p.cfg
	change(&c)
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return err
	}
	was := p.cfg
	p.cfg = c
	for _, cell := range p.cells {
		for _, rec := range cell.reals {
			if c.Witness != was.Witness && rec.real.witness != nil {
				rec.real.witness.Reconfigure(c.Witness)
			}
			if v := rec.real.viewed.witness; v != nil {
				v.Reconfigure(c.Witness)
			}
			if c.BackupPeriod < was.BackupPeriod {
				rec.real.backupAt = min(rec.real.backupAt, rec.real.nextBackup())
			}
		}
	}
	return nil
}
