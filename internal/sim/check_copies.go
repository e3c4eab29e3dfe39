package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// backupPeriod is the time between two backups of a base: short, so that a run has many rounds.
const backupPeriod = 2 * time.Second

// copiesHeld checks that the newest confirmed copy of each base is at all its holders by the rule that
// its BaseApp's death would be healed by, as the CellAppMgr knows it.
type copiesHeld struct{ c *Cluster }

type copyAt struct {
	holder, owner mercury.Address
	id            entity.ID
}

// held is what every BaseApp that lives holds, and which ones there are.
func (k *copiesHeld) held() (numbers map[copyAt]uint64, living []mercury.Address) {
	numbers = map[copyAt]uint64{}
	for _, p := range k.c.baseApps {
		if a, ok := p.app.(*baseapp.BaseApp); ok && p.alive && a.Joined() && !a.Dismissed() {
			living = append(living, p.Address())
			for owner, c := range a.Copies() {
				numbers[copyAt{p.Address(), owner, c.ID}] = c.Number
			}
		}
	}
	return numbers, living
}

// each calls f with each base, and with the holders that it has by the rule that the manager knows.
func (k *copiesHeld) each(f func(p *Process, b baseapp.BaseView, rule *migrate.Rule, holders []mercury.Address)) {
	m := k.c.leader()
	if m == nil {
		return
	}
	for _, p := range k.c.baseApps {
		a, ok := p.app.(*baseapp.BaseApp)
		if !ok || !p.alive || a.Dismissed() {
			continue
		}
		rule, _ := m.BackupRule(p.Address())
		for b := range a.Bases() {
			if b.Uncopied {
				continue
			}
			f(p, b, &rule, rule.Holders(nil, p.Address(), b.ID))
		}
	}
}

func (k *copiesHeld) safe() error {
	if k.c.opts.Replicas == 0 {
		return nil
	}
	numbers, living := k.held()
	var err error
	k.each(func(p *Process, b baseapp.BaseView, rule *migrate.Rule, holders []mercury.Address) {
		for _, h := range holders {
			if n := numbers[copyAt{h, p.Address(), b.ID}]; n < b.Confirmed && slices.Contains(living, h) && k.c.isMember(h) {
				err = fmt.Errorf("copies: copy %d of %s on %s is confirmed, and its holder %v has %d by rule %d", b.Confirmed, b.ID, p.Name, h, n, rule.Version)
			}
		}
	})
	return err
}

// isMember reports whether an app is of the cluster, as far as a CellAppMgr says. One that was
// declared dead, and is only slow, is not: nobody restores anything from its copies, and what it
// believes of its bases is of the past.
func (c *Cluster) isMember(app mercury.Address) bool {
	m := c.leader()
	return m != nil && slices.ContainsFunc(m.Status().Apps, func(a status.App) bool { return a.Address == app.String() })
}

func (k *copiesHeld) converged() error {
	if k.c.opts.Replicas == 0 {
		return nil
	}
	numbers, living := k.held()
	faults := []error{k.safe()}
	bases := map[copyAt]bool{}
	k.each(func(p *Process, b baseapp.BaseView, rule *migrate.Rule, holders []mercury.Address) {
		for _, h := range holders {
			bases[copyAt{h, p.Address(), b.ID}] = true
		}
		switch want := min(k.c.opts.Replicas, len(living)-1); {
		case len(holders) != want:
			faults = append(faults, fmt.Errorf("copies: %s on %s has %d holders by rule %d, and should have %d", b.ID, p.Name, len(holders), rule.Version, want))
		case b.Confirmed == 0:
			faults = append(faults, fmt.Errorf("copies: nobody has confirmed a copy of %s on %s", b.ID, p.Name))
		case slices.ContainsFunc(holders, func(h mercury.Address) bool { return !slices.Contains(living, h) }):
			faults = append(faults, fmt.Errorf("copies: a holder of %s on %s is dead", b.ID, p.Name))
		}
	})
	strays := 0
	// order does not show: only their number is told
	for at := range numbers {
		if !bases[at] {
			strays++
		}
	}
	if strays > 0 {
		faults = append(faults, fmt.Errorf("copies: %d are held that nobody needs", strays))
	}
	return errors.Join(faults...)
}
