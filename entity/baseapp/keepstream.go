package baseapp

import (
	"errors"
	"math"

	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/script"
)

// codeKeep codes what an heir needs.
func (b *base) codeKeep(c *codec.Coder) {
	k := &b.keep
	c.Uvarint(&k.row)
	c.Uvarint(&k.version)
	c.Bool(&k.made)
	holder, copy, reading, wanted := k.holder, k.copy, !b.value.IsValid(), k.wanted || k.calling
	for _, v := range [...]*bool{&wanted, &k.parting, &k.ending, &k.deleting, &b.failed} {
		c.Bool(v)
	}
	if holder == 0 {
		holder = b.app.allocator
	}
	if b.link.State() != linkNone {
		copy = cellCopy{} // the link has it
	}
	codec.Uint32(c, &holder)
	copy.code(c)
	if reading {
		k.holder, k.copy, k.wanted = holder, copy, wanted
	}
	c.Bytes(&k.loaded, store.MaxData)
	codec.List(c, &k.waits, limits.StoreWaits, 3, func(c *codec.Coder, w *storeWait) {
		c.String(&w.method, script.MaxName)
		c.Varint(&w.user)
	})
}

var errStoreForgotten = errors.New("baseapp: the BaseApp that asked has died or left; it may have been written, so write again")

// reviveKeep takes the row over from the former life.
func (b *base) reviveKeep() {
	k := &b.keep
	if k.typ == nil {
		return
	}
	if k.parting {
		k.freshAt, k.freshBy = math.MaxUint64, b.app.now+adoptGrace+cellPatience // wherever its cell part is
	}
	k.ahead = true // the copy has what it heard, and perhaps not that of the cell part
	if k.row == 0 {
		k.holder = 0
	}
	if k.wanted = k.wanted || b.account != "" || k.row != 0; k.wanted {
		b.queueKeep()
	}
}

// tellStoreForgotten answers the writes of the former life.
func (b *base) tellStoreForgotten() {
	waits := b.keep.waits
	b.keep.waits = nil
	for _, w := range waits {
		if b.hears() {
			callBack(b, w.method, stored.Reply{User: w.user, Err: &stored.Error{Code: stored.Busy, Reason: errStoreForgotten.Error()}})
		}
	}
}
