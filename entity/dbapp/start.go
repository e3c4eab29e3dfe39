package dbapp

import (
	"context"
	"math"
	"slices"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Tokens of jobs that are no calls.
const (
	beginToken = math.MaxUint64 - iota
	freeToken
	spaceToken
	bringToken
	worldToken
	leaseToken
	changeToken
)

// begun is the result of the job that begins a start of the cluster.
type begun struct {
	worldBlob
	err error
}

// beginStart begins a start of the cluster, if it is for this DBApp to do. Nobody needs one before a
// BaseApp is there, and the first to come may be one that knows it: the whole world may have been out
// of reach for a while.
func (d *DBApp) beginStart() {
	if d.start != 0 || d.beginning || !d.world.known || !d.cfg.Fresh && (d.came < 0 || d.now-d.came < AdoptTime || d.world.strange) || !d.claims() || !d.fits() {
		return
	}
	d.beginning = true
	w := d.world.worldBlob
	w.world = d.drawn()
	d.storeJob(beginToken, func(ctx context.Context, s store.Store) any {
		start, err := s.Begin(ctx)
		if w.newest = start; err == nil {
			w.version, err = s.Put(ctx, worldKey, w.append(), w.version)
		}
		return begun{w, err}
	})
}

func (d *DBApp) startBegun(result any) {
	d.beginning = false
	b, ok := result.(begun)
	d.noteStore(writings, b.err)
	if !ok || b.err != nil {
		d.world.known, d.world.at = false, d.now+bringAgain // the blob may be another one now
		d.report.Errors++
		if unlogged, ok := d.lines.Allow(d.now, "begin"); ok {
			d.log.Error("cannot begin a start of the cluster in the store; it is tried again", "error", b.err, "unlogged", unlogged)
		}
		return
	}
	d.world.worldBlob = b.worldBlob
	if d.start == 0 {
		d.start = b.newest
		d.log.Info("a start of the cluster has begun", "start", d.start)
	}
}

// tellStart answers a BaseApp that asks for the start of the cluster. One that knows it says it. One of
// another world is not answered, and asks again: the right store may come back.
func (d *DBApp) tellStart(from sender, m *wire.CallStore) {
	if !d.world.known || d.stranger(m) {
		return
	}
	if d.start == 0 && !d.beginning && m.Start != 0 && m.Start == d.world.newest && d.fits() {
		d.start, d.lease.taken = m.Start, false
		d.log.Info("going on with a start of the cluster", "start", d.start)
	}
	if d.start != 0 {
		d.reply(from.ch, m.Request, nil, wire.StoreAnswer{Start: d.start, World: d.world.world})
	} // else it is asked again
}

// idBlock are database ids of a type that nobody has yet.
type idBlock struct{ next, end store.ID }

func (d *DBApp) keepIDs(typ string, first store.ID) {
	d.ids[typ] = idBlock{first, first + reserved}
}

// giveID answers with a database id, if there is one at hand.
func (d *DBApp) giveID(ch mercury.ChannelID, request uint64, typ string) bool {
	b := d.ids[typ]
	if b.next == b.end {
		return false
	}
	d.reply(ch, request, nil, wire.StoreAnswer{Row: uint64(b.next)})
	b.next++
	d.ids[typ] = b
	return true
}

// freeDead frees the check-outs of the apps whose heirs have had their time, one app after the other.
func (d *DBApp) freeDead() {
	i := slices.IndexFunc(d.dead, func(x departed) bool { return x.at <= d.now })
	if i < 0 || d.start == 0 {
		return
	}
	x, start := d.dead[i].allocator, d.start
	if d.lives(x) { // the list of apps was not complete when a row of it was met
		d.dead = slices.Delete(d.dead, i, i+1)
		return
	}
	d.dead[i].at = d.now + FreeAfter // again, unless it is done by then
	d.storeJob(freeToken, func(ctx context.Context, s store.Store) any {
		n, err := s.Free(ctx, start, x)
		return freed{x, n, err}
	})
}

// freeLater frees the check-outs of a dead app when its heirs have had their time. A DBApp that
// takes the place of another learns of the dead from the rows that they have.
func (d *DBApp) freeLater(allocator uint32) {
	if allocator != 0 && len(d.dead) < wire.MaxMembers && !slices.ContainsFunc(d.dead, func(x departed) bool { return x.allocator == allocator }) {
		d.dead = append(d.dead, departed{allocator, d.now + FreeAfter})
	}
}

// freed is the result of that job.
type freed struct {
	app uint32
	n   int
	err error
}

func (d *DBApp) freed(result any) {
	f, ok := result.(freed)
	d.noteStore(writings, f.err)
	if !ok || f.err != nil {
		d.report.Errors++
		if unlogged, ok := d.lines.Allow(d.now, "free"); ok {
			d.log.Warn("cannot free what a dead BaseApp had checked out; it is tried again", "error", f.err, "unlogged", unlogged)
		}
		return
	}
	d.dead = slices.DeleteFunc(d.dead, func(x departed) bool { return x.allocator == f.app })
	d.log.Info("freed what a dead BaseApp had checked out", "allocator", f.app, "entities", f.n)
}
