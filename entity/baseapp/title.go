package baseapp

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/migrate"
)

// seal makes the titles of a base's cell parts: what a CellApp shows as it says that it has a real, or
// had it. A base gives it with the order to make the real, and it goes on in handoffs, so an app that
// never had the entity does not know it. It is carried with the base: a real that has lived through the
// death of its base's app shows its title to the next one.
type seal [sha256.Size]byte

// sealing is the secret of an app's start from which it makes the seals of its bases.
type sealing [sha256.Size]byte

func newSealing(secrets func([]byte)) (s sealing) {
	if secrets != nil { // otherwise they can be guessed
		secrets(s[:])
	}
	return s
}

func (s *sealing) of(id entity.ID) seal {
	var b [len(s) + 8]byte
	copy(b[:], s[:])
	binary.LittleEndian.PutUint64(b[len(s):], uint64(id))
	return sha256.Sum256(b[:])
}

// title is that of an incarnation.
func (s *seal) title(incarnation uint32) migrate.Title {
	var b [len(s) + 4]byte
	copy(b[:], s[:])
	binary.LittleEndian.PutUint32(b[len(s):], incarnation)
	sum := sha256.Sum256(b[:])
	return migrate.Title(binary.LittleEndian.Uint64(sum[:]))
}

// entitled reports whether who shows a title was given the real of an order.
func (b *base) entitled(order entity.Order, shown migrate.Title) bool {
	return shown == b.seal.title(order.Incarnation)
}
