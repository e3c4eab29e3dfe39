package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/migrate"
)

// backUp sends the backups that are due. Entity ids spread them over the period, so a crowd that
// came at once is not backed up at once. In a frozen world it sends only what bases have asked for:
// there is nothing new to keep, and regular backups would always leave something unacknowledged.
func (c *Cell) backUp() {
	c.watch.Enter(&c.work.rest)
	defer c.watch.Leave()
	for _, rec := range c.reals {
		r := rec.real
		due := r.gone == staying && c.now >= r.backupAt && (!c.population.frozen || r.backupAt == 0) && !r.choked()
		c.watch.Switch(r.turn(due))
		if due {
			// Tell the base again where its real is, in case a Current was lost.
			r.announce()
			r.backup()
		}
	}
}

// backup sends the real's state to its base through the flow, which settles all that was sent
// before it.
func (r *Real) backup() {
	r.backupAt = r.nextBackup()
	if r.e.Base.IsZero() {
		return
	}
	if len(r.direct) > 0 && r.session.Number != 0 {
		// The client must hear what was said before the backup before the base has the backup.
		// Otherwise the next incarnation would believe that it was said.
		r.sendBundle(r.direct)
		r.direct = r.direct[:0]
	}
	r.saves++
	m := flow.Backup{
		Order: r.e.Order, Saves: r.saves, Handled: r.handled(),
		Space: r.e.Space, Position: r.e.Position, Commit: r.awaitsBackup(), Parts: r.packed(true),
	}
	r.cell.scratch = m.Append(r.cell.scratch[:0])
	if len(m.Parts) > migrate.MaxParts {
		r.tooLarge(len(m.Parts))
		return
	}
	r.large = false
	if p := r.cell.population; p.traces(r.e) {
		p.step(r.e, "backup sent", "saves", r.saves, "base", r.e.Base)
	}
	if r.sendBase(r.cell.scratch) == nil {
		r.saved(r.base().out.Last())
		r.commitsSent(r.base().out.Last())
	}
}

// nextBackup is when a real that is backed up now is backed up again.
func (r *Real) nextBackup() time.Duration {
	period := r.cell.cfg.BackupPeriod
	return r.cell.now + period/2 + period*4/5*entityShare(r.e.ID)/1024
}

// tooLarge gives a backup up that is too long to be sent. It says so once, and to the script each time.
func (r *Real) tooLarge(size int) {
	if !r.large {
		r.large = true
		r.cell.count.Errors++
		r.Log().Error("the cell part is too large to be backed up: its backup stays the last one", "bytes", size, "most", migrate.MaxParts)
	}
	for r.gone == staying && len(r.commits) > 0 {
		c := r.commits[0]
		r.commits = slices.Delete(r.commits, 0, 1)
		r.callBack(c.method, entity.Callback{User: c.user, Err: limits.ErrTooLarge})
	}
}

// entityShare spreads ids evenly over 0..1023.
func entityShare(id entity.ID) time.Duration {
	return time.Duration(uint64(id) * 0x9e3779b97f4a7c15 >> 54)
}
