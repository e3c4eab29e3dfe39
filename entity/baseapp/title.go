package baseapp

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/migrate"
)

// titles makes the titles of cell parts: what a CellApp shows as it says that it has a real, or had
// it. A base gives it with the order to make the real, and it goes on in handoffs, so an app that
// never had the entity does not know it. It is made from a secret of this start, and is not kept.
type titles [sha256.Size]byte

func newTitles(secrets func([]byte)) (t titles) {
	if secrets != nil { // otherwise they can be guessed
		secrets(t[:])
	}
	return t
}

// of is the title of an entity's incarnation.
func (t *titles) of(id entity.ID, incarnation uint32) migrate.Title {
	var b [len(t) + 12]byte
	copy(b[:], t[:])
	binary.LittleEndian.PutUint64(b[len(t):], uint64(id))
	binary.LittleEndian.PutUint32(b[len(t)+8:], incarnation)
	sum := sha256.Sum256(b[:])
	return migrate.Title(binary.LittleEndian.Uint64(sum[:]))
}

// entitled reports whether who shows a title was given the real of an order.
func (a *BaseApp) entitled(id entity.ID, order entity.Order, shown migrate.Title) bool {
	return shown == a.titles.of(id, order.Incarnation)
}
