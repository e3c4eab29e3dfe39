package sim

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// spaceOrders is what the CellAppMgrs were asked to set of the space's data. The first one numbers
// the changes from 1 in this order, and no other has as many of its own.
type spaceOrders struct {
	number uint64
	newest map[uint16][]order         // what a key has
	first  bsp.CellID                 // the cell with which the space last began
	said   map[mercury.Address]uint64 // the newest change that each start of a CellApp has sent to this manager
	term   uint32
}

// order is what was last asked for of one entry.
type order struct {
	number uint64
	id     entity.DataID
	value  string
	by     mercury.Address
}

// asked is what a key should have, as dataOf tells it.
func (o *spaceOrders) asked(key uint16) (d keyData) {
	for _, x := range o.newest[key] {
		d.add(x.number, x.id, []byte(x.value))
	}
	return d
}

// keyData is what is known of a key somewhere: the highest number, and the entries by id.
type keyData struct {
	number  uint64
	entries []string
}

func (d *keyData) add(number uint64, id entity.DataID, value []byte) {
	d.number = max(d.number, number)
	d.entries = append(d.entries, fmt.Sprintf("%020d %q", id, value))
}

func (d *keyData) String() string {
	slices.Sort(d.entries)
	return strings.Join(d.entries, ", ")
}

// dataOf is what a cell knows of a key.
func dataOf(cell space.Hosted, key uint16) (d keyData) {
	for e := range cell.AllData() {
		switch {
		case e.Key != key:
		case e.Removed:
			d.number = max(d.number, e.Number)
		default:
			d.add(e.Number, e.ID, e.Value)
		}
	}
	return d
}

func (o *spaceOrders) hear(p *Process, ch mercury.ChannelID, msg []byte) {
	if len(msg) == 0 {
		return
	}
	var m wire.SetSpaceData
	var c wire.AddCell
	switch id := wire.ID(msg[0]); {
	case p == p.c.manager && id == wire.SetSpaceDataID && m.Parse(msg[1:]) == nil:
		from, _ := p.ep.Peer(ch)
		if !o.counts(p.c.terms, from, &m) {
			return
		}
		o.number++
		if o.newest == nil {
			o.newest = map[uint16][]order{}
		}
		o.newest[m.Key] = slices.DeleteFunc(o.newest[m.Key], func(x order) bool { return replaces(&m, x) })
		if !m.Removed {
			o.newest[m.Key] = append(o.newest[m.Key], order{o.number, m.ID, string(m.Value), from})
		}
	case slices.Contains(p.c.cellApps, p) && id == wire.AddCellID && c.Parse(msg[1:]) == nil && c.First && c.Space == theSpace:
		o.first = c.Cell
	}
}

// replaces reports whether an entry is no more when a request is carried out.
func replaces(m *wire.SetSpaceData, x order) bool { return m.ID == 0 || m.ID == x.id }

// counts reports whether a change is to be set. A change that is said twice is not, nor is a change
// of a key that has had another value set since.
func (o *spaceOrders) counts(term uint32, from mercury.Address, m *wire.SetSpaceData) bool {
	if o.said == nil || o.term != term {
		o.said, o.term = map[mercury.Address]uint64{}, term
	}
	again := m.Said <= o.said[from]
	o.said[from] = max(o.said[from], m.Said)
	overtaken := m.Late && slices.ContainsFunc(o.newest[m.Key], func(x order) bool {
		return replaces(m, x) && x.number > m.Seen && x.by != from
	})
	return !again && m.Space == theSpace && !overtaken
}

// dataKeys are the keys that the game may set.
func (o Options) dataKeys() (all []uint16) {
	all = append(all, tuneKey)
	if o.Wild.Heralds > 0 {
		all = append(all, hushKey)
		for key := range uint16(manyKeys) {
			all = append(all, firstKey+key)
		}
	}
	return all
}

// oneData checks the part of promise 5 that is about space data: at rest, every cell and every
// client has the newest value of every key.
type oneData struct {
	c     *Cluster
	last  map[keyAt]uint64
	first bsp.CellID // last counts since this cell
}

// keyAt is a key of the space's data, on one CellApp.
type keyAt struct {
	app mercury.Address
	key uint16
}

func (k *oneData) safe() error {
	if first := k.c.orders.first; first != k.first {
		k.first = first
		k.begin()
	}
	keys := k.c.opts.dataKeys()
	numbers := make([]uint64, len(keys))
	most := spacekey.Base(k.c.terms) + k.c.orders.number + wire.MaxLostAreas // the manager's own changes
	for p, a := range k.c.liveCellApps() {
		for cell := range theCell(a) {
			clear(numbers)
			for e := range cell.AllData() {
				if i := slices.Index(keys, e.Key); i >= 0 {
					numbers[i] = max(numbers[i], e.Number)
				}
			}
			for i, n := range numbers {
				at := keyAt{p.Address(), keys[i]}
				if was := k.last[at]; n < was || n > most {
					return fmt.Errorf("promise 5: the space data %d on %s is number %#x, it was %#x; %d changes were asked for in %d terms", at.key, p.Name, n, was, k.c.orders.number, k.c.terms)
				}
				k.last[at] = n
			}
		}
	}
	return nil
}

// begin forgets what CellApps have known when nothing is left of their cells: the space begins anew
// because the CellAppMgr died and, before another one had heard it, so did the last CellApp with a
// cell. A CellApp that has a cell and comes late brings the data back.
func (k *oneData) begin() {
	last := map[keyAt]uint64{}
	for p, a := range k.c.liveCellApps() {
		for cell := range a.Cells() {
			for _, key := range k.c.opts.dataKeys() {
				if cell.Space() == theSpace && dataOf(cell, key).number > 0 {
					last[keyAt{p.Address(), key}] = k.last[keyAt{p.Address(), key}]
				}
			}
		}
	}
	k.last = last
}

func (k *oneData) converged() error {
	var faults []error
	for _, key := range k.c.opts.dataKeys() {
		faults = append(faults, k.agreed(key))
	}
	return errors.Join(faults...)
}

// agreed checks one key.
func (k *oneData) agreed(key uint16) error {
	var faults []error
	asked := k.c.orders.asked(key)
	want := asked.String()
	if k.c.observer.last.Deaths > 0 || k.c.terms > 1 {
		// The manager does not listen to those it declared dead, nor does the next one know the
		// last things that were said to it. The newest value is what the cells have, and all must
		// have the same.
		for _, a := range k.c.liveCellApps() {
			for cell := range theCell(a) {
				if a.Removing(cell.Space()) {
					continue
				}
				e := dataOf(cell, key)
				want = e.String()
			}
		}
	}
	for p, a := range k.c.liveCellApps() {
		for cell := range theCell(a) {
			if a.Removing(cell.Space()) {
				continue // the cell is out of the space, and is told nothing any more
			}
			if e := dataOf(cell, key); e.String() != want {
				faults = append(faults, fmt.Errorf("promise 5: %s has space data %d: %s, the newest is %s", p.Name, key, e.String(), want))
			}
		}
	}
	for _, pl := range k.c.players {
		var e keyData
		for id, value := range pl.client.AllSpaceData(key) {
			e.add(0, id, value)
		}
		if e.String() != want {
			faults = append(faults, fmt.Errorf("promise 5: %s has space data %d: %s, the newest is %s", pl.name, key, e.String(), want))
		}
	}
	return errors.Join(faults...)
}

// theCell yields the cell of the space that everyone shares, if an app has one that is in its
// geometry: a cell that lingers without anyone in it is told nothing new.
func theCell(a *cellapp.CellApp) iter.Seq[space.Hosted] {
	return func(yield func(space.Hosted) bool) {
		for cell := range a.Cells() {
			if cell.Space() == theSpace && !(a.Removing(theSpace) && cell.Reals()+cell.Ghosts() == 0) && !yield(cell) {
				return
			}
		}
	}
}
