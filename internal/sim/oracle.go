package sim

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
)

// The oracle is a service, which heralds ask.

const oracleDef = `<root><Methods><ask> <Arg> UINT64 </Arg> <ReturnValues> <n> UINT64 </n> </ReturnValues> </ask></Methods></root>`

// oracle is a fragment of it.
type oracle struct{ *entity.Base }

// Ask answers with what it was asked.
func (o *oracle) Ask(n uint64) (uint64, error) { return n, nil }

// consult asks the oracle; OnOracle hears of it.
func (b *heraldBase) consult() {
	m := b.Lookup(0, "Oracle", entity.ServiceMailbox)
	if m.Then("OnOracle", int64(b.n)).Call("ask", uint64(b.n)) == nil {
		b.w.consulted++
	}
}

// OnOracle checks an answer. An oracle may die before it has answered.
func (b *heraldBase) OnOracle(r entity.Reply) {
	var n uint64
	switch err := r.Scan(&n); {
	case err != nil:
		b.w.unanswered++
	case n == uint64(r.User):
		b.w.foretold++
	default:
		b.w.lies = append(b.w.lies, fmt.Sprintf("%v asked %d, and was answered %d", b.ID(), r.User, n))
	}
}

// oneOracle checks that at rest each BaseApp has one fragment of the oracle, and that all apps know them all.
type oneOracle struct{ c *Cluster }

func (k *oneOracle) safe() error {
	if lies := k.c.world.lies; len(lies) > 0 {
		return fmt.Errorf("promise 10: %s", lies[0])
	}
	return nil
}

func (k *oneOracle) converged() error {
	if k.c.opts.Wild.Heralds == 0 {
		return nil
	}
	var want []entity.ID
	apps := 0
	for range k.c.liveBaseApps() {
		apps++
	}
	for b := range basesOf[*oracle](k.c) {
		want = append(want, b.ID)
	}
	if len(want) != apps {
		return fmt.Errorf("%d BaseApps have %d fragments of the oracle", apps, len(want))
	}
	var err error
	k.c.eachShared(func(p *Process, d *app.Shared) {
		known := d.Fragments("Oracle")
		for _, id := range want {
			if !slices.Contains(known, id) || len(known) != len(want) {
				err = fmt.Errorf("%s knows the oracles %v, there are %v", p.Name, known, want)
			}
		}
	})
	return err
}
