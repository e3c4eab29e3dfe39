package cellappmgr

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// desk has the jobs of a manager until they are done, and a store that may be away.
type desk struct {
	*memory.Store
	away   bool
	tokens []uint64
	jobs   []func(context.Context) any
}

func (d *desk) Do(token uint64, run func(context.Context) any) {
	d.tokens, d.jobs = append(d.tokens, token), append(d.jobs, run)
}

func (d *desk) Reserve(ctx context.Context, c store.Counter, n uint64) (uint64, error) {
	if d.away {
		return 0, store.ErrAway
	}
	return d.Store.Reserve(ctx, c, n)
}

// work does all jobs.
func (d *desk) work(r *rig) {
	tokens, jobs := d.tokens, d.jobs
	d.tokens, d.jobs = nil, nil
	for i := range jobs {
		r.m.JobDone(r.now, tokens[i], jobs[i](context.Background()))
	}
}

func (d *desk) config(term uint32) func(*Config) {
	return func(c *Config) { c.Term, c.RecoveryWindow, c.Numbers, c.Jobs = term, -1, d, d }
}

// TestNumbersAreNeverGivenTwice starts managers of one store 300 times: in rising terms, as those
// of a world that goes on, and in the first again, as those of one that was stopped.
func TestNumbersAreNeverGivenTwice(t *testing.T) {
	d := &desk{Store: memory.New()}
	allocators, spaces := map[uint32]bool{}, map[entity.SpaceID]bool{}
	for start := range uint32(300) {
		r := newRig(t, d.config(1+start*7%280))
		d.work(r)
		for n := range 3 {
			c, b := r.join(wire.CellApp, 10+n), r.join(wire.BaseApp, 20+n)
			c.confirm()
			for _, p := range []*peer{c, b} {
				a := one[wire.Welcome](p).Allocator
				if a == 0 || a > app.MaxAllocator || allocators[a] || (a&1 == 1) != (p == b) {
					t.Fatalf("start %d: allocator %d", start, a)
				}
				allocators[a] = true
			}
			id := b.ask(uint64(n+1), aRoom()).Space
			if !isCreated(id) || spaces[id] || !r.m.mayHaveBeen(id) || r.m.mayHaveBeen(id+1) {
				t.Fatalf("start %d: space %d", start, id)
			}
			spaces[id] = true
		}
	}
}

// TestNumbersAreAwaited: while the store is away, those who are here go on, and new starts wait for
// their numbers.
func TestNumbersAreAwaited(t *testing.T) {
	d := &desk{Store: memory.New()}
	r := newRig(t, d.config(1))
	d.work(r)
	var last *peer
	for n := range 200 {
		p := r.connect(wire.BaseApp, at(10+n))
		p.addr.Salt += uint32(n)
		d.away = n >= 80
		p.sendJoin()
		r.pass(100 * time.Millisecond)
		d.work(r)
		if len(take[wire.Welcome](p)) == 0 {
			last = p
			break
		}
	}
	if last == nil {
		t.Fatal("everyone was welcomed while the store was away")
	}
	gone := r.join(wire.CellApp, 250)
	r.pass(3 * time.Second)
	d.work(r)
	none[wire.Refused](last)
	if got := r.m.Status().Apps[0].Store; got != "it gives no numbers for new apps or spaces: "+store.ErrAway.Error() {
		t.Errorf("the status says %q", got)
	}
	gone.drop(mercury.ErrNoChannel)
	if n := len(r.m.unnumbered); n != 1 {
		t.Errorf("%d wait", n)
	}
	d.away = false
	r.pass(2 * time.Second)
	d.work(r)
	one[wire.Welcome](last)
	if got := r.m.Status().Apps[0].Store; got != "" {
		t.Errorf("the status says %q of a store that works", got)
	}
	if !strings.Contains(r.log.String(), "the store gives no numbers") {
		t.Error("the log does not say why someone waits")
	}
}

// TestTermsBeyondIDs: without a store a manager of a term that ids do not hold lets nobody new in,
// and says why.
func TestTermsBeyondIDs(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Term, c.RecoveryWindow = maxIDTerm+1, -1 })
	if got := one[wire.Refused](r.join(wire.BaseApp, 10)); !strings.Contains(got.Reason, "store") {
		t.Errorf("reason %q", got.Reason)
	}
	if id := r.m.nextSpaceID(); id != 0 {
		t.Errorf("space %d", id)
	}
	one[wire.Welcome](r.join(wire.LoginApp, 11))
}

// TestNumbersOfAnotherStore: a manager that was started with the store of another world gives no new app the
// number of one that lives, or of one that has died.
func TestNumbersOfAnotherStore(t *testing.T) {
	d := &desk{Store: memory.New()}
	r := newRig(t, d.config(2))
	d.work(r)
	r.m.members = append(r.m.members, &member{role: wire.LoginApp, allocator: 1 << appShift, address: at(9)})
	r.m.backups.gone.Add(migrate.Departure{App: at(8), Number: 1, Allocator: 2<<appShift | 1})
	if a := one[wire.Welcome](r.join(wire.BaseApp, 10)).Allocator; a != 3<<appShift|1 {
		t.Errorf("allocator %d, of number %d", a, a>>appShift)
	}
}
