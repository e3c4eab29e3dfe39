package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// A base whose CellApp has died waits for what other CellApps know of its real: offerGrace, or until
// all of them have mourned, since then nothing more comes.
//
//	           AppDead: those who mourn           the last of them has mourned, or died
//	(unknown) ─────────────────────────▶ waiting ────────────────────────────────────────▶ all bases go on
//	    │ Mourned overtakes the verdict     ▲  │
//	    └──────────▶ early ─────────────────┘  └─ offerGrace ─▶ (forgotten; each base has gone on)

const (
	// maxMournings bounds the deaths that are mourned at one time. The oldest is forgotten first: its
	// bases wait for offerGrace.
	maxMournings = 64

	// earlyLease is how long a Mourned waits for the verdict, which comes over another channel.
	earlyLease = 2 * time.Second
)

// mourning is one death.
type mourning struct {
	dead    mercury.Address
	told    bool // the verdict has come
	waits   []mercury.Address
	mourned []mercury.Address // until the verdict says who is waited for
	until   time.Duration
}

// mourn begins to wait, or goes on with what came early. Without a word of who mourns, each base waits
// for offerGrace.
func (a *BaseApp) mourn(dead mercury.Address, mourners []mercury.Address) {
	if len(mourners) == 0 {
		return
	}
	m := a.mourningOf(dead)
	m.told, m.until = true, a.now+offerGrace
	for _, app := range mourners {
		if !slices.Contains(m.mourned, app) {
			m.waits = append(m.waits, app)
		}
	}
	m.mourned = nil
}

// mourned takes word that a CellApp has mourned another.
func (a *BaseApp) mourned(by sender, m *wire.Mourned) {
	x := a.mourningOf(m.App)
	if !x.told {
		if len(x.mourned) < wire.MaxMembers && !slices.Contains(x.mourned, by.app) {
			x.mourned = append(x.mourned, by.app)
		}
		return
	}
	x.waits = slices.DeleteFunc(x.waits, func(w mercury.Address) bool { return w == by.app })
	a.endMourning()
}

func (a *BaseApp) mourningOf(dead mercury.Address) *mourning {
	i := slices.IndexFunc(a.mournings, func(m mourning) bool { return m.dead == dead })
	if i >= 0 {
		return &a.mournings[i]
	}
	if len(a.mournings) == maxMournings {
		a.mournings = slices.Delete(a.mournings, 0, 1)
	}
	a.mournings = append(a.mournings, mourning{dead: dead, until: a.now + earlyLease})
	return &a.mournings[len(a.mournings)-1]
}

// endMourning lets the bases go on for which all has been said, and forgets deaths that are past.
func (a *BaseApp) endMourning() {
	var over []mercury.Address
	a.mournings = slices.DeleteFunc(a.mournings, func(m mourning) bool {
		waits := slices.ContainsFunc(m.waits, func(app mercury.Address) bool { return !a.links.Dead(app) })
		if m.told && !waits {
			over = append(over, m.dead)
		}
		return m.told && !waits || m.until <= a.now
	})
	for _, dead := range over {
		for i := 0; i < len(a.list); i++ { // scripts may add bases in this loop
			if b := a.list[i]; !b.removed && b.link.Mourned(a.now, dead) {
				b.tickCell()
			}
		}
	}
}
