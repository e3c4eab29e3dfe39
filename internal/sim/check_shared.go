package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/app"
)

// sharedKeys is how many keys the heralds set together, beside one of its own for each.
const sharedKeys = 7

// share changes what the cluster shares: a key that all of them set, and now and then remove, and its own.
func (b *heraldBase) share(key int) {
	together := fmt.Sprintf("news/%d", key%sharedKeys)
	if b.n%5 == 0 {
		_ = b.Shared().Remove(together)
	} else {
		_ = b.Shared().Set(together, fmt.Sprintf("%s:%d", b.ID(), b.n))
	}
	last := fmt.Sprintf("%s:%d", b.ID(), b.n)
	if b.Shared().Set(ownKey(b.ID()), last) == nil {
		b.last = last
	}
}

func ownKey(id entity.ID) string { return fmt.Sprintf("own/%d", id) }

// sharedHearer is a part of an entity that hears changes.
type sharedHearer struct {
	id   entity.ID
	part entity.Part
}

// sharedNews is what was heard of a key, and by which incarnation of a cell part.
type sharedNews struct {
	text        string
	incarnation uint32
}

// hearShared notes the newest that a part has heard of a key. What an older incarnation of a cell part still
// hears does not count: on a CellApp that is cut off, which a manager of an older term leads, one went on
// after another had been restored and had heard more (seed 193745 at b8ce6d31).
func (w *world) hearShared(by sharedHearer, incarnation uint32, c shared.Change) {
	if w.sharedHeard == nil {
		w.sharedHeard = make(map[sharedHearer]map[string]sharedNews)
	}
	if w.sharedHeard[by] == nil {
		w.sharedHeard[by] = make(map[string]sharedNews)
	}
	if incarnation >= w.sharedHeard[by][c.Key].incarnation {
		w.sharedHeard[by][c.Key] = sharedNews{sharedText(c.Value, !c.Removed), incarnation}
	}
}

func sharedText(value any, there bool) string {
	if !there {
		return "nothing"
	}
	return fmt.Sprint(value)
}

// oneShared checks that all apps have the same of what the cluster shares, once the world is at rest: what
// was last set by whom lives, and was set by nobody else, is there. Whoever has heard of a key has heard of
// the newest change.
type oneShared struct{ c *Cluster }

func (k *oneShared) safe() error { return nil }

func (k *oneShared) converged() error {
	if k.c.opts.Wild.Heralds == 0 {
		return nil
	}
	var faults []error
	want, first := "", ""
	var data shared.Data
	compare := func(p *Process, d shared.Data) {
		var all []string
		for key, value := range d.All("") {
			all = append(all, fmt.Sprintf("%s=%v", key, value))
		}
		got := strings.Join(all, " ")
		if first == "" {
			want, first, data = got, p.Name, d
		}
		if got != want {
			faults = append(faults, fmt.Errorf("%s shares %s; %s shares %s", p.Name, got, first, want))
		}
	}
	k.c.eachShared(func(p *Process, d *app.Shared) { compare(p, d) })
	if data != nil {
		faults = append(faults, k.heard(data)...)
	}
	return errors.Join(faults...)
}

// eachShared calls f with the copy of every app that is in the cluster. Of a CellApp that has retired a new
// one is started at once, at rest too, and knows nothing until it has joined (seed 193895 at 0ca804f9).
func (c *Cluster) eachShared(f func(p *Process, d *app.Shared)) {
	for p, a := range c.liveCellApps() {
		if a.Joined() {
			f(p, a.Shared().(*app.Shared))
		}
	}
	for p, a := range c.liveBaseApps() {
		f(p, a.Shared().(*app.Shared))
	}
}

// heard checks the heralds that live.
func (k *oneShared) heard(data shared.Data) (faults []error) {
	for b, s := range basesOf[*heraldBase](k.c) {
		value, there := data.Get(ownKey(b.ID))
		if got := sharedText(value, there); s.last != "" && got != s.last {
			faults = append(faults, fmt.Errorf("%v on %s last set %s, and all share %s", b.ID, b.p.Name, s.last, got))
		}
		faults = append(faults, k.heardBy(sharedHearer{b.ID, entity.BasePart}, data)...)
	}
	for v := range realsOf[*heraldCell](k.c) {
		faults = append(faults, k.heardBy(sharedHearer{v.ID(), entity.CellPart}, data)...)
	}
	return faults
}

func (k *oneShared) heardBy(by sharedHearer, data shared.Data) (faults []error) {
	heard := k.c.world.sharedHeard[by]
	for _, key := range slices.Sorted(maps.Keys(heard)) {
		value, there := data.Get(key)
		if got := sharedText(value, there); heard[key].text != got {
			faults = append(faults, fmt.Errorf("the %v of %v last heard of %s that it is %s, and all share %s", by.part, by.id, key, heard[key].text, got))
		}
	}
	return faults
}
