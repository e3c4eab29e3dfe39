package cellappmgr

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// backups is what the manager knows of the copies of bases: by which rule each BaseApp has its bases
// held, and those of BaseApps that are gone. It passes a rule on with the verdict of death, so everyone
// finds the bases of a dead app in the same place (package migrate).
type backups struct {
	rules map[mercury.Address]migrate.Rule // of members, and of those who may come back
	// issues are the allocators of those who may come back.
	issues map[mercury.Address]uint32
	gone   migrate.Departures
	last   uint64 // number of the newest departure
}

// BackupRule is the rule by which the bases of a BaseApp are backed up, as the manager knows it: by it
// its death would be healed.
func (m *CellAppMgr) BackupRule(app mercury.Address) (migrate.Rule, bool) {
	r, ok := m.backups.rules[app]
	return r.Clone(), ok
}

// backupRule takes the rule of a BaseApp: all its copies are where the rule wants them.
func (m *CellAppMgr) backupRule(from sender, msg *migrate.BackupRule) {
	m.backups.keep(from.app.address, &msg.Rule)
	m.sendOn(from.ch, m.encode(&migrate.BackupRuleHeld{Version: m.backups.rules[from.app.address].Version}))
}

// keep takes a rule if it is newer than the known one.
func (b *backups) keep(app mercury.Address, r *migrate.Rule) {
	if b.rules == nil {
		b.rules = make(map[mercury.Address]migrate.Rule)
	}
	if old, known := b.rules[app]; !known || r.Version > old.Version {
		b.rules[app] = r.Clone()
	}
}

// depart numbers a departure, unless it has a number.
func (b *backups) depart(app mercury.Address, allocator, term uint32) {
	if b.gone.Of(app) == nil {
		b.last = max(b.last, uint64(term)<<32) + 1
		b.gone.Add(migrate.Departure{App: app, Number: b.last, Allocator: cmp.Or(allocator, b.issues[app]), Rule: b.rules[app]})
	}
	delete(b.issues, app)
	delete(b.rules, app)
}

// departPart numbers the departure of a part.
func (b *backups) departPart(app mercury.Address, allocator, term uint32, p migrate.Part) *migrate.Departure {
	b.last = max(b.last, uint64(term)<<32) + 1
	b.gone.Add(migrate.Departure{App: app, Number: b.last, Allocator: allocator, Rule: b.rules[app], Part: p})
	return b.gone.Find(migrate.Leave{App: app, Turn: p.Turn})
}

// learn takes what an app knows of a BaseApp that is gone. Of two verdicts that two managers gave, the
// first counts: by its rule the heirs have begun. Only a verdict without a rule takes one from elsewhere.
// (The newest rule won once. The next manager then had another heir for bases that were already back, and
// the apps that heard of it refused whatever came from where those were.)
func (b *backups) learn(d migrate.Departure) {
	d.Allocator = cmp.Or(d.Allocator, b.issues[d.App])
	if old := b.gone.Find(d.Leave()); old != nil {
		d.Allocator = cmp.Or(d.Allocator, old.Allocator)
		if d.Rule.Version == 0 || old.Number <= d.Number && old.Rule.Version > 0 {
			d.Rule = old.Rule
		}
		d.Number = min(d.Number, old.Number)
	}
	b.last = max(b.last, d.Number)
	b.gone.Add(d)
}

// rulesPending counts the BaseApps whose rule is for other members than those of now.
func (m *CellAppMgr) rulesPending() (n int) {
	var fellows []mercury.Address
	for _, a := range m.members {
		if a.role == wire.BaseApp {
			fellows = append(fellows, a.address)
		}
	}
	for _, app := range fellows {
		r, newest := m.backups.rules[app], m.backups.gone.Newest(app)
		if !slices.Equal(r.List, migrate.Partners(nil, app, fellows)) || len(r.List) > 0 && r.Covers < newest {
			n++
		}
	}
	return n
}

// verdict is what everyone concerned is told of a death.
func (m *CellAppMgr) verdict(g wire.AppRef) *wire.AppDead {
	v := &wire.AppDead{Role: g.Role, App: g.App}
	if d := m.backups.gone.Of(g.App); d != nil {
		v.Number, v.Allocator, v.Rule = d.Number, d.Allocator, d.Rule
	}
	return v
}

// hearRule takes the rule of a BaseApp from an app that comes back.
func (m *CellAppMgr) hearRule(b *returning, msg *wire.RejoinRule) error {
	switch {
	case b.told == nil || len(b.rules) >= wire.MaxRejoinRules:
		return fmt.Errorf("%w: a rule out of place, or too many", wire.ErrMalformed)
	case msg.Part.Turn > 0 && msg.Departed == 0:
		return fmt.Errorf("%w: a part that has not departed", wire.ErrMalformed)
	case msg.Departed>>32 >= uint64(m.cfg.Term):
		return fmt.Errorf("%w: departure %d reported to a manager of term %d", wire.ErrMalformed, msg.Departed, m.cfg.Term)
	}
	d := migrate.Departure{App: msg.App, Number: msg.Departed, Allocator: msg.Allocator, Rule: msg.Rule.Clone(), Part: msg.Part}
	b.rules = append(b.rules, d)
	if m.recovery.on {
		m.learnRule(d)
	}
	return nil
}

func (m *CellAppMgr) learnRule(d migrate.Departure) {
	switch gone := m.backups.gone.Of(d.App); {
	case d.Part.Turn > 0:
		m.backups.learn(d)
		if !m.recovery.on {
			m.tellPart(m.backups.gone.Find(d.Leave()))
		}
	case d.Number > 0:
		if d.Rule.Version == 0 {
			d.Rule = m.backups.rules[d.App]
		}
		m.backups.learn(d)
	case gone != nil:
		if gone.Rule.Version == 0 && d.Rule.Version > 0 || gone.Allocator == 0 && d.Allocator > 0 {
			d.Number = gone.Number
			m.backups.learn(d)
		}
	default:
		m.backups.keep(d.App, &d.Rule)
		if m.backups.issues == nil {
			m.backups.issues = make(map[mercury.Address]uint32)
		}
		if d.Allocator != 0 { // not all who know the rule know it
			m.backups.issues[d.App] = d.Allocator
		}
	}
}

// takeOwn takes the rule that an app which comes back has told of itself, or that it has none: what others
// said of it counts only as long as it is not there. It has told everyone of its rule, so none of them can
// know a newer one.
func (m *CellAppMgr) takeOwn(b *returning) {
	delete(m.backups.rules, b.peer)
	for i := range b.rules {
		if d := &b.rules[i]; d.App == b.peer && d.Number == 0 {
			m.backups.keep(d.App, &d.Rule)
		}
	}
}

// knows reports whether an app that comes back knows all of a death.
func (b *returning) knows(v *wire.AppDead) bool {
	if !slices.Contains(b.told.Graves, wire.AppRef{Role: v.Role, App: v.App}) {
		return false
	}
	return v.Role != wire.BaseApp || slices.ContainsFunc(b.rules, func(d migrate.Departure) bool {
		return d.App == v.App && d.Part.Turn == 0 && d.Number == v.Number && d.Rule.Version == v.Rule.Version && d.Allocator == v.Allocator
	})
}

// knowsPart reports whether an app that comes back knows all of the departure of a part.
func (b *returning) knowsPart(d *migrate.Departure) bool {
	return slices.ContainsFunc(b.rules, func(x migrate.Departure) bool { return x.Leave() == d.Leave() && x.Number == d.Number })
}

// departBuried numbers the deaths of BaseApps that only graves tell of, when all have told what they
// know.
func (m *CellAppMgr) departBuried() {
	for _, g := range m.graves {
		if g.Role == wire.BaseApp {
			m.backups.depart(g.App, 0, m.cfg.Term)
		}
	}
}

// missBaseApps notes which BaseApps have not come back, before anybody is told who is here: a
// BaseAppMgr that has started again, too, would else take those for all, and give the accounts and
// names of the others away.
func (m *CellAppMgr) missBaseApps(now time.Duration, back []*returning) {
	m.missRuled(now, back)
	for _, p := range m.recovery.peers {
		if p.Role == wire.BaseApp {
			m.miss(now, p)
		}
	}
}

// missRuled waits for the BaseApps that others hold copies for and that have not come back: their
// verdict heals their bases.
func (m *CellAppMgr) missRuled(now time.Duration, back []*returning) {
	for _, b := range back {
		for _, d := range b.rules {
			if d.Number == 0 {
				m.miss(now, wire.AppRef{Role: wire.BaseApp, App: d.App})
			}
		}
	}
}

// learnLate takes what an app that comes back after the window knows of BaseApps. What this manager
// has told of a death stays, and what members have told of themselves. A part that nobody else knew
// of left by the rule that the whole app would have left by, so who has died meanwhile makes no
// difference.
func (m *CellAppMgr) learnLate(now time.Duration, b *returning) {
	for _, d := range b.rules {
		a := m.byAddress(d.App)
		if part := d.Part.Turn > 0; m.backups.gone.Find(d.Leave()) == nil && (part || a == nil || a.missing) {
			m.learnRule(d)
		}
	}
	m.missRuled(now, []*returning{b})
}
