package sim

import (
	"context"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Vaults are entities with both parts that the store keeps. Both parts change all the time, by themselves and
// by calls of each other: when the world stops, the store has to have the very last state of both.

const vaultDef = `<root><Persistent> true </Persistent>
	<Properties>
		<count> <Type> INT64 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Indexed> true </Indexed> </count>
		<heard> <Type> INT64 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> </heard>
		<sum>   <Type> INT64 </Type> <Flags> CELL_PRIVATE </Flags> <Persistent> true </Persistent> </sum>
	</Properties>
	<CellMethods> <add> <Arg> INT64 </Arg> </add> </CellMethods>
	<BaseMethods> <told> <Arg> INT64 </Arg> </told> </BaseMethods>
</root>`

type vaultBase struct {
	*entity.Base
	Count, Heard property.Int64
	beats        int            `cellscape:"local"`
	hall         entity.SpaceID `cellscape:"local"` // a space that it asked for
}

// OnCreated stands where it stood, or somewhere.
func (b *vaultBase) OnCreated() {
	if b.beats = 0; b.Row() == 0 {
		_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
	}
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnBeat counts, tells the cell part, and has itself written now and then.
func (b *vaultBase) OnBeat(entity.Callback) {
	b.Count.Set(b.Count.Get() + 1)
	_ = b.Cell().Call("add", int64(1))
	if b.beats++; b.beats%5 == 1 {
		_ = b.Write("OnKept", 0)
	}
}

// OnHall notes a space that was asked for.
func (b *vaultBase) OnHall(r entity.SpaceReply) { b.hall = r.Space }

// OnKept is another change, which the store does not have yet.
func (b *vaultBase) OnKept(stored.Reply) { b.Count.Set(b.Count.Get() + 1) }

// Told is for the cell part to call.
func (b *vaultBase) Told(sum int64) { b.Heard.Set(sum) }

type vaultCell struct {
	*space.Real
	Sum property.Int64
}

// OnCreated begins to change by itself.
func (r *vaultCell) OnCreated() { _, _ = r.AddTimer(beat, beat, "OnBeat", 0) }

// OnBeat moves on and tells the base.
func (r *vaultCell) OnBeat(entity.Callback) {
	to := r.Position()
	to.X++
	_ = r.SetPosition(to)
	r.Add(1)
}

// Add is for the base to call.
func (r *vaultCell) Add(n int64) {
	r.Sum.Set(r.Sum.Get() + n)
	_ = r.Base().Call("told", r.Sum.Get())
}

// vault is what one has.
type vault struct {
	row               uint64
	count, heard, sum int64
	at                property.Vector3
}

// vaults are those that live, by row. An app that was declared dead, and does not know it yet, has bases of
// a former life, or reals of a former incarnation: they go on, and nobody keeps what they do.
func (c *Cluster) vaults() map[uint64]vault {
	list, lives := map[uint64]vault{}, map[uint64]uint32{}
	for b, s := range basesOf[*vaultBase](c) {
		if s.Row() == 0 {
			continue
		}
		v := vault{row: s.Row(), count: s.Count.Get(), heard: s.Heard.Get(), sum: -1}
		if _, twice := list[v.row]; twice && b.Life < lives[v.row] {
			continue
		}
		for x, cell := range realsOf[*vaultCell](c) {
			if x.ID() == b.ID && x.Order().Incarnation == b.Order.Incarnation {
				v.sum, v.at = cell.Sum.Get(), x.Position()
			}
		}
		list[v.row], lives[v.row] = v, b.Life
	}
	return list
}

// keptVaults are those of the store.
func (c *Cluster) keptVaults() (map[uint64]vault, error) {
	k := c.world.books
	page, err := k.kept.Query(context.Background(), store.Query{Type: "Vault", Limit: store.MaxPage})
	if err != nil {
		return nil, err
	}
	list := map[uint64]vault{}
	t := k.types.Type("Vault")
	for i := range page.Rows {
		loaded, err := k.kept.Load(context.Background(), []store.Want{{Key: page.Rows[i].Key}})
		if err != nil || loaded[0].Err != nil {
			return nil, fmt.Errorf("%v: %v, %v", page.Rows[i].Key, err, loaded)
		}
		base, cell := property.NewValues(t.Definition(), property.BaseSide, nil), property.NewValues(t.Definition(), property.CellSide, nil)
		rest, _, err := t.Decode(loaded[0].Columns, loaded[0].Data, base, cell)
		if err != nil {
			return nil, err
		}
		var stood entity.Stood
		if err := codec.Parse(rest, func(c *codec.Coder) {
			codec.Uint32(c, &stood.Space)
			fields.Vector3(c, &stood.Position)
			fields.Vector3(c, &stood.Direction)
		}); err != nil {
			return nil, err
		}
		value := func(v *property.Values, name string) int64 {
			for i, p := range v.Definition().Properties {
				if p.Name == name {
					return v.Get(i).Int()
				}
			}
			return -1
		}
		list[uint64(page.Rows[i].ID)] = vault{row: uint64(page.Rows[i].ID), count: value(base, "count"), heard: value(base, "heard"), sum: value(cell, "sum"), at: stood.Position}
	}
	return list, nil
}

// returning are the types that come back when the world starts.
func (w *world) returning() []string {
	if w.schema.Type("Vault") == nil {
		return nil
	}
	return []string{"Vault"}
}
